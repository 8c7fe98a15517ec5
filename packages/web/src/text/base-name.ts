/** Returns the last part of a path. */
export const baseName = (path: string): string => path.split(/[\\/]/u).findLast((name) => name !== '') ?? path
