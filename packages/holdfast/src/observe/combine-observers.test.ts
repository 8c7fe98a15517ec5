import type { Observer, Problem } from '@holdfast/core/ports'
import { aSession } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { observeAll } from './combine-observers.ts'

describe('combined observers', () => {
  it('are all called, even if one throws', () => {
    const received: string[] = []
    const problems: Problem[] = []
    const broken = () => {
      throw new Error('boom')
    }
    const all = observeAll([{ left: broken }, { left: (session) => void received.push(session) }], (problem) =>
      problems.push(problem),
    )
    all.left(aSession)
    expect(received).toEqual([aSession])
    expect(problems).toMatchObject([{ where: 'observing a session', cause: { message: 'boom' } }])
  })

  it('wrap the work, which runs once', async () => {
    const order: string[] = []
    const around = (name: string): Observer => ({
      async during(_, __, run) {
        order.push(`${name} begins`)
        const value = await run()
        order.push(`${name} ends`)
        return value
      },
    })
    const work = observeAll([around('one'), around('two')], () => undefined)
    expect(await work.during(aSession, { type: 'prepare-step' }, async () => order.push('work'))).toBe(3)
    expect(order).toEqual(['two begins', 'one begins', 'work', 'one ends', 'two ends'])
  })

  const broken = new Error('boom')
  const ways: readonly (readonly [string, Required<Observer>['during']])[] = [
    [
      'breaks before the work',
      () => {
        throw broken
      },
    ],
    ['never begins it', () => Promise.reject(broken)],
    [
      'breaks while it is done',
      (_, __, run) => {
        void run()
        throw broken
      },
    ],
    [
      'breaks after it',
      async (_, __, run) => {
        await run()
        throw broken
      },
    ],
    [
      'does it twice',
      async (_, __, run) => {
        await run()
        await run()
        throw broken
      },
    ],
  ]

  it.each(ways)('do not fail or repeat the work when one %s', async (_, stand) => {
    const problems: Problem[] = []
    let times = 0
    const work = observeAll(
      [{ during: stand, asking: (session, _model, ask) => stand(session, { type: 'prepare-step' }, ask) }, {}],
      (problem) => problems.push(problem),
    )
    const written = { failed: 'no' }
    expect(await work.during(aSession, { type: 'prepare-step' }, async () => ++times)).toBe(1)
    expect(await work.asking(aSession, 'sim/model', async () => ({ ...written, times: ++times }))).toEqual({
      ...written,
      times: 2,
    })
    expect(problems).toEqual(Array(2).fill({ where: 'observing a session', cause: broken }))
  })

  it('see that the work failed, which is not reported as their problem', async () => {
    const problems: Problem[] = []
    const work = observeAll([{ during: (_, __, run) => run() }], (problem) => problems.push(problem))
    const failing = async () => {
      throw new Error('no disk')
    }
    await expect(work.during(aSession, { type: 'prepare-step' }, failing)).rejects.toThrow('no disk')
    expect(problems).toEqual([])
  })
})
