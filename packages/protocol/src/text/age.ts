export const dayMs = 86_400_000
const units = { m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs } as const

/** Keeps the year of the resulting time at four digits. */
export const ageMsMax = 365_000 * units.d

/** Describes the format, for error messages. */
export const ageForm = 'a whole number with its unit, up to 1,000 years: 90m, 12h, 30d or 2w'

/** Parses an age like `30d` into milliseconds; null when invalid. */
export function parseAge(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return null
  const ms = Number(count) * units[unit as keyof typeof units] // by the pattern
  return ms > ageMsMax ? null : ms
}
