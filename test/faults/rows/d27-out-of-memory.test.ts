import { expect, it } from 'vitest'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { startWriter } from '../writer-process.ts'

const scratch = useScratch({ inMemory: true })

it.each(['sqlite', 'jsonl', 'blobs'] as const)(
  'D27 %s: a process that runs out of memory loses no acknowledged append',
  async (kind) => {
    const location = scratch.location(kind)
    const writer = startWriter({ location, logs: 2, leakBytes: 512 * 1024 }, { nodeFlags: ['--max-old-space-size=48'] })
    const { signal, stderr } = await writer.ended()
    expect(signal).toBe('SIGABRT')
    expect(stderr).toContain('heap')
    expect(writer.acknowledgedCount()).toBeGreaterThan(5)
    const verdict = await verify({ location, witnesses: writer.witnesses() })
    expect(verdict.violations).toEqual([])
  },
)
