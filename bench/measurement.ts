import type { Row } from './table.ts'

/** The result of a measurement: its rows for people, and its plain figures for `--json`. */
export type Measured = { readonly figures: unknown; readonly rows: readonly Row[] }

/** Measures one part of the runtime in a folder of its own. */
export type Measurement = (place: { readonly dir: string; readonly rounds: number }) => Promise<Measured>

/** Measurements by the name that people type. */
export type Measurements = { readonly [name: string]: Measurement }
