/** The last name of a path, for where the whole would not fit. */
export const baseName = (path: string): string => path.split(/[\\/]/u).findLast((name) => name !== '') ?? path
