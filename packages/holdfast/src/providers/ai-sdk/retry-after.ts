type Headers = { readonly [name: string]: string | undefined }

/** How long the service asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. Null if it does not say. */
export function retryAfterMs(headers: Headers | undefined, now: number): number | null {
  const exact = amount(headers?.['retry-after-ms'])
  if (exact !== null) return exact

  const value = headers?.['retry-after']
  const seconds = amount(value)
  if (seconds !== null) return seconds * 1000
  const date = value === undefined ? Number.NaN : Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

const amount = (text: string | undefined): number | null =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null
