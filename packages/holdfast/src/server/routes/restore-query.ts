import { limits } from '@holdfast/protocol'
import { z } from 'zod'
import { wholeNumber } from '../http/route.ts'

/** A list of texts as JSON, because a path may contain any separator. */
const jsonList = z
  .string()
  .max(limits.toolPathCharsMax)
  .transform((text, { addIssue }) => {
    try {
      return JSON.parse(text) as unknown // checked by the next schema
    } catch {
      addIssue({ code: 'custom', message: 'a list as JSON' })
      return z.NEVER
    }
  })
  .pipe(z.array(z.string()))

/** Which files to restore, and to what, as the query of a URL. */
export const restoreQuery = z.strictObject({
  turn: wholeNumber.optional(),
  message: wholeNumber.optional(),
  call: wholeNumber.optional(),
  undo: z
    .literal('true')
    .transform(() => true as const)
    .optional(),
  paths: jsonList.optional(),
})
