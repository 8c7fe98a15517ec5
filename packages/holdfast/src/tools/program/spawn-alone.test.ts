import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { spawnAlone } from './spawn-alone.ts'

describe('processes that are started at once', () => {
  it('are each started in a slice of their own', async () => {
    let slice = 0
    let isOver = false
    const count = () => {
      slice++
      if (!isOver) setImmediate(count)
    }
    onTestFinished(() => {
      isOver = true
    })
    setImmediate(count)
    const slices: number[] = []
    const start = () => {
      slices.push(slice)
      return spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' })
    }
    const children = await Promise.all(Array.from({ length: 5 }, () => spawnAlone(start)))
    await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')))
    expect(new Set(slices).size).toBe(5)
  })

  it('do not wait for one that cannot be started', async () => {
    const missing = spawnAlone(() => spawn('/no/such/program'))
    const started = spawnAlone(() => spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' }))
    await expect(missing).rejects.toThrow('ENOENT')
    expect((await started).pid).toBeGreaterThan(0)
  })
})
