import type { Meta } from '@holdfast/protocol'
import type { Listed } from './catalogue.ts'

/** The metadata with since when it is in the trash, which is not on record. */
export const trashMark = (meta: Meta, row: Listed | undefined): Meta =>
  row?.trashedAt == null ? meta : { ...meta, trashedAt: new Date(row.trashedAt).toISOString() }
