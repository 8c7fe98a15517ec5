import { z } from 'zod'
import { KeptBoundary } from '../value/boundary.ts'

export const boundaryEvents = [
  /** Tools may change only these lines of the file: a client set them, or an edit moved them. */
  z.object({
    type: z.literal('boundary.set'),
    ...KeptBoundary.shape,
    /** Set when the lines moved because the file changed. */
    moved: z.literal(true).optional(),
  }),
  /** The boundary of this file was removed; all boundaries when null. */
  z.object({ type: z.literal('boundary.cleared'), path: z.string().nullable() }),
] as const
