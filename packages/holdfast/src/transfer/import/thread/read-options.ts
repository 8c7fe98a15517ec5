import { ImportChoice, orThrow, parseOptions } from '@holdfast/protocol'
import { z } from 'zod'
import { formatNames } from '../parse/format.ts'
import type { ImportOptions } from './import-thread.ts'

const callback = <Called extends (...given: never) => void>() =>
  z.custom<Called>((value) => typeof value === 'function', 'give a function').optional()

const Options = ImportChoice.extend({
  from: z.enum(formatNames).optional(),
  onFile: callback<NonNullable<ImportOptions['onFile']>>(),
  onWait: callback<NonNullable<ImportOptions['onWait']>>(),
  onCount: callback<NonNullable<ImportOptions['onCount']>>(),
})

/** Reads the options of an import; an unknown one is refused with the nearest right name. */
export const readImportOptions = (given: ImportOptions = {}): ImportOptions =>
  orThrow(parseOptions(Options, given, 'import'))
