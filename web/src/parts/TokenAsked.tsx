// Asks for the server's token, and keeps it for this tab only.

import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { useQueryClient } from "@tanstack/react-query";

import { keepToken, useTokenWasWrong } from "../api/token";
import { Notice } from "./Notice";

export function TokenAsked(): ReactNode {
  const [text, setText] = useState("");
  const queries = useQueryClient();
  const wasWrong = useTokenWasWrong();
  const field = useRef<HTMLInputElement>(null);
  // A wrong token asks anew: this form is then another one.
  useEffect(() => field.current?.focus(), []);
  const keep = (event: FormEvent): void => {
    event.preventDefault();
    keepToken(text.trim());
    void queries.resetQueries();
  };
  return (
    <form className="sheet stack" onSubmit={keep}>
      <h1>This server asks for its token</h1>
      <p className="soft">
        The server was started with it (<code>--token-file</code>, <code>$ANEW_TOKEN</code>), or
        made it and printed where it is kept. This tab keeps it until it is closed.
      </p>
      {wasWrong && <Notice tone="bad">This is not the token of this server.</Notice>}
      <label className="field">
        Token
        <input
          ref={field}
          type="password"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
          required
        />
      </label>
      <div>
        <button type="submit" className="main">
          Continue
        </button>
      </div>
    </form>
  );
}
