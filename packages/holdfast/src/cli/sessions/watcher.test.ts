import { aFrame } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createPaint, type Output } from '../terminal/output.ts'
import { createWatcher } from './watcher.ts'

describe('a program that watches a turn', () => {
  it('is told when the store begins to refuse and when it takes writes again, and not that all is well', async () => {
    const lines: string[] = []
    const out: Output = {
      isTerminal: false,
      paint: createPaint(false),
      write: async (text) => void lines.push(text),
    }
    const watcher = createWatcher(true, { out, err: out })
    const error = { reason: 'disk_full', message: 'The disk is full.' }
    for (const told of [null, error, null, null]) await watcher.show(aFrame({ type: 'storage', error: told }))
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ storage: { error } }, { storage: { error: null } }])
  })
})
