/** Returns whether a client already has what this tag names, as its `If-None-Match` says. */
export function hasUnchanged(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const known = ifNoneMatch.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes('*') || known.includes(tag)
}
