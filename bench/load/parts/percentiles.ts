import { number } from '../../table.ts'

export type Percentiles = {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

/** Returns "p50 1.0, p95 2.0, p99 3.0 ms". */
export const describe = ({ p50, p95, p99 }: Percentiles): string =>
  `p50 ${number(p50, 1)}, p95 ${number(p95, 1)}, p99 ${number(p99, 1)} ms`

export const megabytes = (bytes: number): string => `${number(bytes / 1024 ** 2, 1)} MB`

/** Returns the time on a clock that all processes of this machine share, in ms. */
export const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6
