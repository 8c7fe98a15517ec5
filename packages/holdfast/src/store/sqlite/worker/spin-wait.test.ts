import { describe, expect, it } from 'vitest'
import { createSpinBudget } from './spin-wait.ts'

/** Creates a thread with its own clock. It works, or waits while another thread has its core. */
function createThread(isAlone = false) {
  let wallMs = 1000
  let cpuMs = 0
  const usageSince = (start = { user: 0, system: 0 }) => ({ user: cpuMs * 1000 - start.user, system: 0 })
  const budget = createSpinBudget(isAlone, usageSince)
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

/** Begins a spin and takes the core away. Returns whether the spin stopped. */
function disturb({ begins, waits, goesOn }: ReturnType<typeof createThread>): boolean {
  if (!begins()) return false
  waits(2)
  return !goesOn()
}

/** Returns the length of the pause after a disturbance, in milliseconds. */
function pauseOf({ begins, waits }: ReturnType<typeof createThread>): number {
  let pausedMs = 0
  for (; !begins(); pausedMs++) waits(1)
  return pausedMs
}

describe('spinning', () => {
  it('continues until its time is over', () => {
    const thread = createThread()
    expect(thread.begins()).toBe(true)
    thread.works(0.1)
    expect(thread.goesOn()).toBe(true)
    expect(thread.isOver()).toBe(true)
  })

  it('never starts on a single core', () => {
    expect(createThread(true).begins()).toBe(false)
  })

  it('does not stop after long work of its own thread', () => {
    const thread = createThread()
    thread.begins()
    thread.works(50)
    expect(thread.goesOn()).toBe(true)
  })

  it('stops as soon as another thread has its core', () => {
    const thread = createThread()
    expect(disturb(thread)).toBe(true)
    expect(thread.begins()).toBe(false)
  })

  it('pauses ever longer while the machine is busy, up to a second', () => {
    const thread = createThread()
    const pauses = Array.from({ length: 5 }, () => {
      disturb(thread)
      return pauseOf(thread)
    })
    expect(pauses).toEqual([20, 80, 320, 1000, 1000])
  })

  it('resets the pause after many undisturbed spins', () => {
    const thread = createThread()
    for (let times = 0; times < 3; times++) {
      disturb(thread)
      pauseOf(thread)
    }
    for (let spin = 0; spin <= 200; spin++) thread.begins()
    disturb(thread)
    expect(pauseOf(thread)).toBe(20)
  })
})
