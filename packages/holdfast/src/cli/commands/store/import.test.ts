import { fault } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import type { ImportedFile } from '../../../transfer/import/import-paths.ts'
import { problemText } from './import.ts'

const blank = { format: null, session: null, messages: 0, bytes: 0, remarks: [] } as const
const failed = (file: string): ImportedFile => ({
  ...blank,
  file,
  status: 'failed',
  fault: fault('bad_request', `${file} cannot be read.`),
})
const changed = (file: string): ImportedFile => ({ ...blank, file, status: 'changed' })
const many = (of: (file: string) => ImportedFile) =>
  Array.from({ length: 1000 }, (_, index) => of(`${of.name}${index}`))

it('prints a few of the files of a folder that failed or differ, and counts the others', () => {
  const text = problemText([...many(failed), ...many(changed)], new Set(), 20)
  expect(text.match(/cannot be read\./g)).toHaveLength(20)
  expect(text).toContain('… and 980 more that failed. Use --list to list them all.\n')
  expect(text.match(/was not imported/g)).toHaveLength(20)
  expect(text).toContain('… and 980 more that differ. Use --list to list them all.\n')
})

it('prints every file that was named, and every file with --list', () => {
  const named = ['failed998', 'failed999']
  const text = problemText(many(failed), new Set(named), 20)
  for (const file of named) expect(text).toContain(`${file} cannot be read.\n`)
  expect(text).toContain('… and 978 more that failed.')
  expect(problemText(many(failed), new Set(), Number.POSITIVE_INFINITY)).not.toContain('more that failed')
})
