// A button for each choice of a question, with the key that picks it.

import type { ReactNode } from "react";

import type { Choice } from "./choices";

interface ChoiceButtonsProps {
  choices: readonly Choice[];
  chosen: string | null;
  onChoose: (label: string) => void;
}

export function ChoiceButtons({ choices, chosen, onChoose }: ChoiceButtonsProps): ReactNode {
  return (
    <div className="people-choices" role="group" aria-label="Choices">
      {choices.map(({ label, text, key }, at) => (
        <button
          key={at}
          type="button"
          aria-pressed={label === chosen}
          aria-keyshortcuts={key ?? undefined}
          title={key === null ? undefined : `Key ${key}`}
          onClick={() => onChoose(label)}
        >
          {key !== null && <kbd aria-hidden="true">{key}</kbd>}
          <span>{text}</span>
        </button>
      ))}
    </div>
  );
}
