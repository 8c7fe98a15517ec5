const unseen = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Returns what stays of a name or a path when a file system folds case, composes characters and skips what cannot be seen. Some
 * do: there, `.ENV` is the file `.env`. Two names that fold to the same may still be two files.
 */
export const foldName = (name: string): string => name.replace(unseen, '').normalize('NFKC').toLowerCase()
