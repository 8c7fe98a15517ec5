import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { spawnInTurn } from './spawn-in-turn.ts'

describe('processes that are started at once', () => {
  it('are each started in a turn of the event loop of their own', async () => {
    let turn = 0
    let isOver = false
    const count = () => {
      turn++
      if (!isOver) setImmediate(count)
    }
    onTestFinished(() => {
      isOver = true
    })
    setImmediate(count)
    const turns: number[] = []
    const start = () => {
      turns.push(turn)
      return spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' })
    }
    const children = await Promise.all(Array.from({ length: 5 }, () => spawnInTurn(start)))
    await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')))
    expect(new Set(turns).size).toBe(5)
  })

  it('do not wait for one that cannot be started', async () => {
    const missing = spawnInTurn(() => spawn('/no/such/program'))
    const started = spawnInTurn(() => spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' }))
    await expect(missing).rejects.toThrow('ENOENT')
    expect((await started).pid).toBeGreaterThan(0)
  })
})
