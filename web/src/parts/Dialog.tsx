// A box in front of the page: it takes the focus, and Escape closes it.

import { useEffect, useId, useRef, type ReactNode } from "react";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const box = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const dialog = box.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  // It may have been closed and opened again before the browser says so.
  const tell = (): void => {
    if (!box.current?.open) onClose();
  };
  return (
    <dialog ref={box} className="box" aria-labelledby={name} onClose={tell}>
      <div className="box-body">
        <h2 id={name}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
