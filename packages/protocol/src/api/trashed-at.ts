import type { Meta } from '../view/meta.ts'

/** The metadata with since when it is in the trash, which is not on record. */
export const withTrashedAt = (meta: Meta, trashedAt: number | null | undefined): Meta =>
  trashedAt == null ? meta : { ...meta, trashedAt: new Date(trashedAt).toISOString() }
