import { randomInt } from 'node:crypto'
import type { BackgroundWork } from '@holdfast/core/ports'
import {
  clip,
  fault,
  type BackgroundShell as ListedShell,
  limits,
  noSuchShell,
  ok,
  type Result,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import { createKeyedQueue } from '@holdfast/protocol/serial-queue'
import type { ProcessRecords } from '../program/process-records.ts'
import { type BackgroundShell, commandCharsMax, newsOf } from './background-shell.ts'
import { type CommandJudge, createCommandJudge } from './bounded-command.ts'
import type { CommandRecord, CommandRecords } from './command-records.ts'
import { readTail } from './output/output-tail.ts'
import { howEnded, type RunningCommand } from './running-command.ts'

/** The commands that run in the background, by session. They end with their session and with this process. */
export interface BackgroundShells extends BackgroundWork {
  /** Returns why no further command can run for this session, or null. */
  refusal(session: SessionId | undefined): Result<never> | null
  /** Reserves a place for a command that is about to start. Refused: bad_request, too_large. */
  reserve(session: SessionId | undefined): Result<ReservedPlace>
  /** Refused: bad_request, which names the ids that exist. */
  find(session: SessionId | undefined, id: string): Result<BackgroundShell>
}

/** A place among the commands of a session. It counts until it is released; one that was used stays with its command. */
export interface ReservedPlace {
  /** Puts the command on record and keeps it under a new id. Rejects with a system error if it cannot be recorded. */
  use(command: string, running: RunningCommand, judging?: CommandJudge): Promise<BackgroundShell>
  release(): void
}

const idLetters = 'abcdefghijkmnpqrstuvwxyz23456789'
const idLength = 4
/** Ended commands whose output can still be read. */
const endedMax = 20

const noSession = fault('bad_request', 'Without a session nothing runs in the background.')

type Deps = {
  readonly records: ProcessRecords | null
  /** Without them, nothing is known of commands that ended with their process. */
  readonly commands?: CommandRecords | null | undefined
  readonly now: () => number
}

export function createBackgroundShells({ records, commands = null, now }: Deps): BackgroundShells {
  /** Ended with their session or their process, and the model does not know it yet. */
  let cutShort: readonly CommandRecord[] = []
  const bySession = new Map<SessionId, Map<string, BackgroundShell>>()
  const reserved = new Map<object, SessionId>()
  const oneByOne = createKeyedQueue()
  const listeners: ((session: SessionId) => void)[] = []
  const shellsOf = (session: SessionId) => [...(bySession.get(session)?.values() ?? [])]
  const running = (session: SessionId) => shellsOf(session).filter(({ ended }) => ended === null)
  const publish = (session: SessionId) => {
    for (const listener of listeners) listener(session)
  }

  function forgetOldest(shells: Map<string, BackgroundShell>): void {
    const ended = [...shells.values()].filter((shell) => shell.ended !== null)
    for (const shell of ended.slice(0, Math.max(0, ended.length - endedMax))) {
      shells.delete(shell.id)
      shell.endTold() // its output can no longer be read
      void shell.running.output.close()
    }
  }

  async function endAll(session: SessionId): Promise<void> {
    const shells = shellsOf(session)
    bySession.delete(session)
    cutShort = [
      ...cutShort,
      ...shells.flatMap(({ record, isEndTold }) => (record === null || isEndTold ? [] : [record])),
    ]
    for (const { running: command, ended } of shells) if (ended === null) command.end('aborted')
    for (const { running: command, judged } of shells) {
      await judged
      await records?.remove(command.mark)
      await command.output.close()
    }
  }

  function refusal(session: SessionId | undefined): Result<never> | null {
    if (session === undefined) return refuse(noSession)
    const starting = [...reserved.values()].filter((id) => id === session)
    if (running(session).length + starting.length < limits.backgroundShellsMax) return null
    const message = `${limits.backgroundShellsMax} commands run in the background already. End one with shell_stop.`
    return refuse(fault('too_large', message, { limit: 'backgroundShellsMax' }))
  }

  async function add(
    session: SessionId,
    command: string,
    started: RunningCommand,
    judging: CommandJudge,
  ): Promise<BackgroundShell> {
    await records?.add(started.mark)
    const shells = bySession.get(session) ?? new Map<string, BackgroundShell>()
    bySession.set(session, shells)
    const id = newId(shells)
    const record = (await commands?.add({ session, id, command: clip(command, commandCharsMax) })) ?? null
    const judge = async (hasEnded = false) => {
      const others = running(session).filter((one) => one !== shell)
      const found = await judging.judge(
        others.map((one) => one.judging),
        hasEnded,
      )
      shell.violations = [...shell.violations, ...found]
    }
    const shell: BackgroundShell = {
      id,
      command,
      startedAt: now(),
      running: started,
      judging,
      record,
      endTold() {
        shell.isEndTold = true
        if (record !== null) void commands?.remove(record.path).catch(() => undefined) // told once more at the next start
      },
      ended: null,
      readBytes: 0,
      isEndTold: false,
      violations: [],
      judge: () => oneByOne(session, () => judge()),
      judged: started.ended.then(() => oneByOne(session, () => judge(true))),
    }
    shells.set(id, shell)
    void started.ended.then(async (ended) => {
      shell.ended = { ...ended, atMs: now() }
      await shell.judged
      await records?.remove(started.mark).catch(() => undefined) // the next start finds the group dead and removes it
      forgetOldest(shells)
      publish(session)
    })
    publish(session)
    return shell
  }

  const describe = async (shell: BackgroundShell): Promise<ListedShell> => {
    const { id, command, startedAt, running: started, ended } = shell
    const outputBytes = ended?.bytes ?? (await started.size())
    const { text: tail, isCut } = await readTail(started.output, outputBytes)
    return {
      id,
      command,
      startedAt: new Date(startedAt).toISOString(),
      outputBytes,
      tail,
      isCut,
      ...(ended && { ended: describeEnd(ended) }),
    }
  }

  return {
    running,
    list: (session) => Promise.all(shellsOf(session).map(describe)),
    async look(session) {
      for (const shell of running(session)) await shell.judge()
    },
    news(session) {
      const gone = cutShort.filter((one) => one.session === session && commands?.isOnRecord(one))
      return newsOf(shellsOf(session), gone, () => {
        cutShort = cutShort.filter((one) => !gone.includes(one))
        for (const { path } of gone) void commands?.remove(path).catch(() => undefined)
      })
    },
    refusal,
    async stop(session, id) {
      const shell = running(session).find((one) => one.id === id)
      if (!shell) return refuse(noSuchShell)
      shell.running.end('stopped')
      await shell.judged
      return ok(null)
    },
    onChange: (listener) => void listeners.push(listener),
    async end(session) {
      await Promise.all((session === undefined ? [...bySession.keys()] : [session]).map(endAll))
    },
    async endLeftovers() {
      await records?.endLeftovers()
      cutShort = (await commands?.ofDeadProcesses(now())) ?? []
    },

    reserve(session) {
      const refused = refusal(session)
      if (refused) return refused
      if (session === undefined) return refuse(noSession)
      const place: ReservedPlace = {
        use: (command, started, judging = createCommandJudge(new Map(), {}, null)) =>
          add(session, command, started, judging).finally(() => place.release()),
        release: () => void reserved.delete(place),
      }
      reserved.set(place, session)
      return ok(place)
    },

    find(session, id) {
      const shells = session === undefined ? [] : shellsOf(session)
      const found = shells.find((shell) => shell.id === id)
      if (found) return ok(found)
      const known = shells.length > 0 ? `There are ${shells.map((one) => one.id).join(', ')}.` : 'There are none.'
      return refuse(
        fault('bad_request', `No command in the background has this id; they end with their session. ${known}`),
      )
    },
  }
}

const describeEnd = ({ ending, atMs }: NonNullable<BackgroundShell['ended']>): NonNullable<ListedShell['ended']> => ({
  at: new Date(atMs).toISOString(),
  exitCode: ending.type === 'exited' ? ending.code : null,
  how: howEnded(ending),
})

function newId(taken: ReadonlyMap<string, unknown>): string {
  for (;;) {
    const id = Array.from({ length: idLength }, () => idLetters[randomInt(idLetters.length)]).join('')
    if (!taken.has(id)) return id
  }
}
