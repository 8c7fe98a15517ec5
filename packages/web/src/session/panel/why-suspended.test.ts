import { fault, ok, refuse } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { whySuspended } from './why-suspended.ts'

describe('the boundary of a file', () => {
  it('is in force while its path is the file itself', () => {
    expect(whySuspended('a.ts', ok({ path: 'a.ts' }))).toBe(null)
    expect(whySuspended('a.ts', refuse(fault('storage_error', 'The server is gone.')))).toBe(null)
  })

  it('is suspended if the file was replaced by a link, leads outside, or is gone', () => {
    expect(whySuspended('a.ts', ok({ path: 'b\u202e.ts' }))).toMatch(
      /^Suspended: the file was replaced by a link to b(?!\u202e)/,
    )
    expect(whySuspended('a.ts', refuse(fault('outside_workdir', 'It leads out.')))).toContain(
      'leads out of the working',
    )
    expect(whySuspended('a.ts', refuse(fault('not_found', 'a.ts does not exist')))).toContain('the file is gone')
  })
})
