import { done, fault, type Result, refuse, type StorageError } from '@holdfast/protocol'
import { createGate, createVirtualClock, diskFull } from '@holdfast/testkit'
import { describe, expect, it, vi } from 'vitest'
import { createBackgroundTasks } from './background-tasks.ts'
import { createStorageHealth } from './storage-health.ts'

const full: Result<undefined> = refuse(diskFull)
const error: StorageError = { reason: 'disk_full', message: diskFull.message }
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

function openWatch(probe: () => Promise<Result<void>> = async () => done) {
  const clock = createVirtualClock()
  const problems: unknown[] = []
  let probes = 0
  const watch = createStorageHealth({
    store: {
      probe() {
        probes += 1
        return probe()
      },
    },
    clock,
    inBackground: createBackgroundTasks((problem) => void problems.push(problem)),
  })
  return {
    clock,
    problems,
    probes: () => probes,
    join() {
      const reports: (StorageError | null)[] = []
      return { reports, storage: watch.join((error) => void reports.push(error)) }
    },
    async pass(ms: number) {
      clock.advance(ms)
      await settled()
    },
  }
}

describe('storage health', () => {
  it('reports the first refusal at once, and equal ones only once', () => {
    const { reports, storage } = openWatch().join()
    expect(storage.track(full)).toBe(full)
    storage.track(full)
    expect([reports, storage.error]).toEqual([[error], error])
    storage.track(refuse(fault('storage_error', 'It may not be written.', { reason: 'read_only' })))
    expect(reports.at(-1)).toEqual({ reason: 'read_only', message: 'It may not be written.' })
  })

  it('keeps the process alive while a write is repeated, and not for a probe', async () => {
    const { clock, join } = openWatch()
    const after = vi.spyOn(clock, 'after')
    const { storage } = join()
    const answers = [full, done]
    const written = storage.insist(async () => answers.shift() ?? done)
    await settled()
    expect(after.mock.calls.map(([, , options]) => options?.keepsAlive ?? false).toSorted()).toEqual([false, true])
    clock.advance(500)
    expect(await written).toBe(done)
  })

  it('reports recovery after an accepted write, not after a refusal for another reason', () => {
    const { reports, storage } = openWatch().join()
    storage.track(done)
    storage.track(refuse(fault('fenced', 'Another owner.')))
    storage.track(full)
    storage.track(refuse(fault('fenced', 'Another owner.')))
    expect(reports).toEqual([error])
    storage.track(done)
    expect([reports, storage.error]).toEqual([[error, null], null])
  })

  it('probes once for all sessions while one is refused, and never before', async () => {
    let answer: Result<void> = done
    const watch = openWatch(async () => answer)
    const [one, two] = [watch.join(), watch.join()]
    await watch.pass(5000)
    expect(watch.probes()).toBe(0)
    answer = full
    one.storage.track(full)
    two.storage.track(full)
    await settled()
    await watch.pass(499)
    expect(watch.probes()).toBe(1)
    await watch.pass(1)
    await watch.pass(500)
    expect([watch.probes(), one.reports, two.reports]).toEqual([3, [error], [error]])
    answer = done
    await watch.pass(500)
    expect([watch.probes(), one.reports, two.reports]).toEqual([4, [error, null], [error, null]])
    expect(watch.clock.nextMs()).toBeNull()
  })

  it('reports a refused probe to every session, also to new ones, and its recovery to all', async () => {
    let answer: Result<void> = full
    const watch = openWatch(async () => answer)
    const [one, other] = [watch.join(), watch.join()]
    one.storage.track(full)
    await watch.pass(0)
    expect([one.reports, other.reports, other.storage.error]).toEqual([[error], [error], error])
    const newcomer = watch.join()
    expect(newcomer.storage.error).toEqual(error)
    one.storage.leave()
    await watch.pass(500)
    answer = done
    await watch.pass(500)
    expect([one.reports, other.reports, newcomer.reports]).toEqual([[error], [error, null], [null]])
    expect([newcomer.storage.error, watch.clock.nextMs()]).toEqual([null, null])
  })

  it('keeps reporting a refused probe even if one small write is accepted', async () => {
    const watch = openWatch(async () => full)
    const [one, other] = [watch.join(), watch.join()]
    one.storage.track(full)
    await watch.pass(0)
    other.storage.track(done)
    await watch.pass(500)
    expect([other.reports, other.storage.error]).toEqual([[error], error])
  })

  it('reports a refusal of one session to that session only', async () => {
    const watch = openWatch()
    const [one, other] = [watch.join(), watch.join()]
    one.storage.track(full)
    await watch.pass(0)
    expect([watch.probes(), one.reports, other.reports]).toEqual([1, [error], []])
    await watch.pass(500)
    expect([one.reports, other.reports]).toEqual([[error, null], []])
  })

  it("forgets the store's error once no session is left", async () => {
    const watch = openWatch(async () => full)
    const { storage } = watch.join()
    storage.track(full)
    await watch.pass(0)
    storage.leave()
    expect([watch.join().storage.error, watch.clock.nextMs()]).toEqual([null, null])
  })

  it('ignores a probe that began before the last refusal', async () => {
    const gate = createGate()
    const answers = [Promise.resolve(done), gate.pass().then(() => done)]
    const watch = openWatch(() => answers.shift() ?? Promise.resolve(done))
    const { reports, storage } = watch.join()
    storage.track(full)
    await settled()
    await watch.pass(500)
    expect(watch.probes()).toBe(2)
    storage.track(full)
    gate.open()
    await settled()
    expect(reports).toEqual([error])
    await watch.pass(500)
    expect(reports).toEqual([error, null])
  })

  it('reports a probe that throws, and continues', async () => {
    let isBroken = true
    const watch = openWatch(async () => {
      if (isBroken) throw new Error('broken')
      return done
    })
    const { reports, storage } = watch.join()
    storage.track(full)
    await settled()
    expect(watch.problems).toMatchObject([{ where: 'probing the store' }])
    isBroken = false
    await watch.pass(500)
    expect(reports).toEqual([error, null])
  })
})

describe('a write that must succeed', () => {
  it('is repeated until it is accepted; probes and other writes do not clear its error', async () => {
    const watch = openWatch()
    const { reports, storage } = watch.join()
    let answer: Result<undefined> = full
    let offers = 0
    const written = storage.insist(async () => {
      offers += 1
      return answer
    })
    await settled()
    await watch.pass(500)
    await watch.pass(500)
    storage.track(done)
    expect([offers, reports]).toEqual([3, [error]])
    answer = done
    await watch.pass(500)
    expect(await written).toBe(done)
    expect([offers, reports]).toEqual([4, [error, null]])
    expect(watch.clock.nextMs()).toBeNull()
  })

  it('is not repeated after a refusal for another reason; then a probe clears the session', async () => {
    const watch = openWatch()
    const { reports, storage } = watch.join()
    const moved: Result<undefined> = refuse(fault('log_moved', 'It has moved on.'))
    const answers = [full, moved]
    const written = storage.insist(async () => answers.shift() ?? done)
    await settled()
    await watch.pass(500)
    expect(await written).toBe(moved)
    await watch.pass(500)
    expect(reports).toEqual([error, null])
  })

  it('is given up at once when the session is released, and leaves no timer', async () => {
    const watch = openWatch()
    const { reports, storage } = watch.join()
    const written = storage.insist(async () => full)
    await settled()
    storage.leave()
    expect(await written).toBe(full)
    storage.track(done)
    expect([reports, watch.clock.nextMs()]).toEqual([[error], null])
  })
})
