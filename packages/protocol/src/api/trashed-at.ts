import type { Meta } from '../view/meta.ts'

/** Adds when the session was trashed, which the log does not record. */
export const withTrashedAt = (meta: Meta, trashedAt: number | null | undefined): Meta =>
  trashedAt == null ? meta : { ...meta, trashedAt: new Date(trashedAt).toISOString() }
