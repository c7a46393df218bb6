// Colours one line of a playbook or a graph: names, texts, templates, comments.

import type { ReactNode } from "react";

const PARTS =
  /(?<template>\{\{.*?\}\}|\{%.*?%\})|(?<comment>(?:^|\s)(?:#|\/\/).*$)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<name>[\w.$-]+(?=\s*[:=](?:\s|"|\[|\{|$)))/g;

export function coloured(line: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const found of line.matchAll(PARTS)) {
    if (found.index > end) parts.push(line.slice(end, found.index));
    const kind = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    parts.push(
      <span key={found.index} className={`word-${kind}`}>
        {found[0]}
      </span>,
    );
    end = found.index + found[0].length;
  }
  parts.push(line.slice(end));
  return parts;
}
