import { sep } from 'node:path'

/** Where a folder is now that one of `from` lies at `to`; null when it was none of them, nor below. */
export function movedPath(folder: string, from: readonly string[], to: string): string | null {
  const was = from.find((one) => folder === one || folder.startsWith(one.endsWith(sep) ? one : `${one}${sep}`))
  if (was === undefined) return null
  const rest = folder.slice(was.endsWith(sep) ? was.length - 1 : was.length)
  return `${to}${rest}`
}
