import { describe, expect, it } from 'vitest'
import { createSpinBudget } from './spin-wait.ts'

/** A thread with a clock of its own: it works, or its core is given to someone else. */
function createThread(isAlone = false) {
  let wallMs = 1000
  let cpuMs = 0
  const budget = createSpinBudget({ isSingleCore: isAlone, cpuMs: () => cpuMs })
  return {
    works: (ms: number) => {
      wallMs += ms
      cpuMs += ms
    },
    waits: (ms: number) => {
      wallMs += ms
    },
    begins: () => budget.begin(wallMs),
    goesOn: (momentMs = 1000) => budget.mayContinue(wallMs, wallMs + momentMs),
    isOver: () => !budget.mayContinue(wallMs, wallMs),
  }
}

/** Begins a moment and has the core taken away in it; tells whether the lookout gave way. */
function disturb({ begins, waits, goesOn }: ReturnType<typeof createThread>): boolean {
  if (!begins()) return false
  waits(2)
  return !goesOn()
}

/** After a disturbance: how long until it may look again, to the millisecond. */
function restOf({ begins, waits }: ReturnType<typeof createThread>): number {
  let rested = 0
  for (; !begins(); rested++) waits(1)
  return rested
}

describe('spinning', () => {
  it('looks until its moment is over', () => {
    const thread = createThread()
    expect(thread.begins()).toBe(true)
    thread.works(0.1)
    expect(thread.goesOn()).toBe(true)
    expect(thread.isOver()).toBe(true)
  })

  it('never looks where there is but one core', () => {
    expect(createThread(true).begins()).toBe(false)
  })

  it('takes long work of its own for no sign of a crowd', () => {
    const thread = createThread()
    thread.begins()
    thread.works(50)
    expect(thread.goesOn()).toBe(true)
  })

  it('gives way as soon as its core was given to someone else', () => {
    const thread = createThread()
    expect(disturb(thread)).toBe(true)
    expect(thread.begins()).toBe(false)
  })

  it('rests ever longer while the machine is crowded, up to a second', () => {
    const thread = createThread()
    const rests = Array.from({ length: 5 }, () => {
      disturb(thread)
      return restOf(thread)
    })
    expect(rests).toEqual([20, 80, 320, 1000, 1000])
  })

  it('forgets the crowd after many moments undisturbed', () => {
    const thread = createThread()
    for (let times = 0; times < 3; times++) {
      disturb(thread)
      restOf(thread)
    }
    for (let moment = 0; moment <= 200; moment++) thread.begins()
    disturb(thread)
    expect(restOf(thread)).toBe(20)
  })
})
