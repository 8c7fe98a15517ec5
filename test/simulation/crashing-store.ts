import type { Store } from '@holdfast/core/ports'
import { fault, refuse } from '@holdfast/protocol'
import type { Dice } from '@holdfast/testkit'
import type { DurableLog } from './durable-log.ts'
import type { Life, Scheduler } from './scheduler.ts'

/** How the disk behaves: `refusing` stores nothing, `unsure` stores it but reports a failure. */
export type Disk = { mood: 'well' | 'refusing' | 'unsure' }

type Parts = {
  readonly inner: Store
  readonly life: Life
  readonly scheduler: Scheduler
  readonly durableLog: Pick<DurableLog, 'add'>
  readonly disk: Disk
  readonly dice: Dice
}

/** Wraps the store for one process. Each operation takes time, and the process may crash before, during or after it. */
export function createCrashingStore({ inner, life, scheduler, durableLog, disk, dice }: Parts): Store {
  const storageError = refuse(fault('storage_error', 'The disk is full.'))

  const slowly =
    <Given extends readonly unknown[], Value>(what: string, work: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> => {
      if (dice.chance(1, 3)) await scheduler.pass(life, what)
      return work(...given)
    }

  return {
    ...inner,
    create: async (session) => {
      const created = await inner.create(session)
      if (created.ok) durableLog.add(session.session, session.records)
      return created
    },
    append: async (append) => {
      const started = append.records.find(({ record }) => record.event.type === 'step.started')?.record.seq
      const start = started === undefined ? null : { step: started, isDurable: false }
      if (append.records.some(({ record }) => record.event.type === 'turn.started')) life.isPrompting = true
      if (start) life.isPrompting = false
      life.starting = start
      await scheduler.pass(life, 'append')
      life.starting = null
      if (disk.mood === 'refusing') return storageError
      const appended = await inner.append(append)
      if (appended.ok) durableLog.add(append.session, append.records)
      if (appended.ok && start) start.isDurable = true
      if (appended.ok && start && life.foreseen?.signal.aborted === false) Object.assign(life.foreseen.start, start)
      if (start) life.foreseen = null
      const isUnsure = appended.ok && disk.mood === 'unsure'
      await scheduler.pass(life, 'answer of an append')
      return isUnsure ? storageError : appended
    },
    saveDraft: async (session, epoch, draft) => {
      await scheduler.pass(life, 'draft')
      return disk.mood === 'well' ? inner.saveDraft(session, epoch, draft) : storageError
    },
    probe: async () => {
      await scheduler.pass(life, 'probe')
      return disk.mood === 'well' ? inner.probe() : storageError
    },
    read: slowly('read', inner.read),
    readRefs: slowly('read of calls', inner.readRefs),
    findCommand: slowly('look-up of a command', inner.findCommand),
    commandHash: slowly('look-up of a hash', inner.commandHash),
    entry: slowly('read of an entry', inner.entry),
    loadDraft: slowly('read of a draft', inner.loadDraft),
    loadSnapshot: slowly('read of a snapshot', inner.loadSnapshot),
    saveSnapshot: slowly('snapshot', inner.saveSnapshot),
    claim: slowly('claim', inner.claim),
    release: slowly('release', inner.release),
  }
}
