// What keys look like when a service quotes one back at us: `sk-ant-…`, `Bearer …`, `x-api-key: …`.
const looksLikeKey = /\b(?:sk|pk|rk)-[\w-]{8,}|(?<=\bbearer\s+)[\w.~+/=-]{8,}|(?<=\bx-api-key["':\s]+)[\w.~+/=-]{8,}/giu

/** Text that may go into a log: the keys we know, and whatever else looks like one, are gone from it. */
export function maskKeys(text: string, keys: readonly string[]): string {
  const known = keys.filter((key) => key !== '').reduce((masked, key) => masked.replaceAll(key, '[key]'), text)
  return known.replace(looksLikeKey, '[key]')
}
