/** The variables of a process. Handed in by whoever composes the program; no module below reads its own. */
export type Environment = { readonly [name: string]: string | undefined }
