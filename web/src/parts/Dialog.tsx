// A box in front of the page: it takes the focus and keeps it, and Escape closes it.

import { useId, useLayoutEffect, useRef, type ReactNode } from "react";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const name = useId();
  // Closed while it is still in the page, a dialog gives the focus back to what had it before.
  useLayoutEffect(() => {
    const dialog = box.current;
    if (dialog === null) return;
    if (!dialog.open) dialog.showModal();
    // What had the focus goes away with what was asked; whoever listens hears the heading then.
    const keep = (): void => {
      if (dialog.open && isNowhere(document.activeElement)) heading.current?.focus();
    };
    const changes = new MutationObserver(keep);
    changes.observe(dialog, { childList: true, subtree: true });
    return () => {
      changes.disconnect();
      dialog.close();
    };
  }, []);
  // It may have been closed and opened again before the browser says so, or be gone.
  const closed = (): void => {
    if (box.current?.open === false) onClose();
  };
  return (
    <dialog ref={box} className="box" aria-labelledby={name} onClose={closed}>
      <div className="box-body">
        <h2 id={name} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

function isNowhere(focused: Element | null): boolean {
  return focused === null || focused === document.body;
}
