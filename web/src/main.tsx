import "./arrival";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { ApiProblem } from "./api/client";
import { App } from "./App";
import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/parts.css";

const RETRIES_MAX = 3;

// A server that is restarting is asked again; one that refused has said so.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => !(error instanceof ApiProblem) && count < RETRIES_MAX,
      refetchOnWindowFocus: true,
      staleTime: 1_000,
    },
  },
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
