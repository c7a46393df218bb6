// A document as it is sent to the server: its text, the name it is shown by, and the texts of the
// files it names.

export interface Source {
  document: string;
  /** Null: nobody gave it a name; the server detects its language by what is in it. */
  file: string | null;
  dialect: string | null;
  files: { [name: string]: string };
}

/** The body of a request: what is not known is left out. */
export function sourceBody(source: Source): { [name: string]: unknown } {
  return {
    document: source.document,
    ...(source.file === null ? {} : { file: source.file }),
    ...(source.dialect === null ? {} : { dialect: source.dialect }),
    ...(Object.keys(source.files).length === 0 ? {} : { files: source.files }),
  };
}

/** A file without its folders, which are those of another machine. */
export function lastPart(file: string): string {
  return file.split("/").at(-1) || file;
}
