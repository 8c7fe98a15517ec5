// Reads fields of foreign JSON: a field of the wrong type counts as missing.

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objects = (value: unknown): readonly JsonObject[] => list(value).map(object)
export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const nonBlank = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : 0
export const cost = (value: unknown): number | null => (typeof value === 'number' && value >= 0 ? value : null)

const timeMin = Date.UTC(1990, 0, 1)
const timeMax = Date.UTC(2200, 0, 1)

/** Parses a date or milliseconds. Returns null for times out of range: Go writes the year 1 for a missing time. */
export function time(value: unknown): number | null {
  const ms = typeof value === 'number' ? value : Date.parse(text(value) ?? '')
  return ms >= timeMin && ms < timeMax ? Math.floor(ms) : null
}

/** Decodes base64 text; returns null if there are no bytes. */
export function bytes(value: unknown): Uint8Array | null {
  const decoded = Buffer.from(text(value) ?? '', 'base64')
  return decoded.length > 0 ? decoded : null
}

/** Parses JSON text; returns `otherwise` if it is not JSON. */
export function parse(json: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return otherwise
  }
}

/** Parses the arguments of a call: an object, or JSON text of one. */
export function args(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  return value.trim() === '' ? {} : parse(value, value)
}
