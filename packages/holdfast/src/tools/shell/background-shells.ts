import { randomInt } from 'node:crypto'
import type { BackgroundCommand, BackgroundWork, ToolResult } from '@holdfast/core/ports'
import {
  fault,
  type BackgroundShell as ListedShell,
  limits,
  noSuchShell,
  ok,
  type Result,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import type { ProcessRecords } from '../program/process-records.ts'
import { withViolations } from './bounded-command.ts'
import { readTail } from './output/output-tail.ts'
import type { EndedCommand, RunningCommand } from './running-command.ts'

/** A command in the background of a session. It is kept after its end, so that its output can be read. */
export type BackgroundShell = BackgroundCommand & {
  readonly running: RunningCommand
  /** Null while it runs. */
  ended: EndedCommand | null
  /** How much of the output was returned by `shell_output`. */
  readBytes: number
  /** Resolves once it has ended and is judged: with what it changed outside edit boundaries. The first reader empties it. */
  readonly judged: Promise<string[]>
}

/** Tells the model what a command changed outside edit boundaries, if it has ended. The first call that reads its end does so. */
export async function judgeEnded({ ended, judged }: BackgroundShell, result: ToolResult): Promise<ToolResult> {
  return ended === null ? result : withViolations(result, (await judged).splice(0))
}

/** The commands that run in the background, by session. They end with their session and with this process. */
export interface BackgroundShells extends BackgroundWork {
  /** Returns why no further command can run for this session, or null. */
  refusal(session: SessionId | undefined): Result<never> | null
  /** Reserves a place for a command that is about to start. Refused: bad_request, too_large. */
  reserve(session: SessionId | undefined): Result<ReservedPlace>
  /** Refused: bad_request, which names the ids that exist. */
  find(session: SessionId | undefined, id: string): Result<BackgroundShell>
}

/** Records what a command that has ended did to files with edit boundaries. Never rejects. */
export type JudgeCommand = () => Promise<string[]>

/** A place among the commands of a session. It counts until it is released; one that was used stays with its command. */
export interface ReservedPlace {
  /** Puts the command on record and keeps it under a new id. Rejects with a system error if it cannot be recorded. */
  use(command: string, running: RunningCommand, judge?: JudgeCommand): Promise<BackgroundShell>
  release(): void
}

const idLetters = 'abcdefghijkmnpqrstuvwxyz23456789'
const idLength = 4
/** Ended commands whose output can still be read. */
const endedMax = 20

const noSession = fault('bad_request', 'Without a session nothing runs in the background.')

type Deps = { readonly records: ProcessRecords | null; readonly now: () => number }

export function createBackgroundShells({ records, now }: Deps): BackgroundShells {
  const bySession = new Map<SessionId, Map<string, BackgroundShell>>()
  const reserved = new Map<object, SessionId>()
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
      void shell.running.output.close()
    }
  }

  async function endAll(session: SessionId): Promise<void> {
    const shells = shellsOf(session)
    bySession.delete(session)
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
    judge: JudgeCommand,
  ): Promise<BackgroundShell> {
    await records?.add(started.mark)
    const shells = bySession.get(session) ?? new Map<string, BackgroundShell>()
    bySession.set(session, shells)
    const id = newId(shells)
    const shell: BackgroundShell = {
      ...{ id, command, startedAt: now(), running: started, judged: started.ended.then(judge) },
      ...{ ended: null, readBytes: 0 },
    }
    shells.set(id, shell)
    void started.ended.then(async (ended) => {
      shell.ended = ended
      await shell.judged
      await records?.remove(started.mark).catch(() => undefined) // the next start finds the group dead and removes it
      forgetOldest(shells)
      publish(session)
    })
    publish(session)
    return shell
  }

  const describe = async ({ id, command, startedAt, running: started }: BackgroundShell): Promise<ListedShell> => {
    const outputBytes = await started.size()
    const { text: tail, isCut } = await readTail(started.output, outputBytes)
    return { ...{ id, command, startedAt: new Date(startedAt).toISOString() }, outputBytes, tail, isCut }
  }

  return {
    running,
    list: (session) => Promise.all(running(session).map(describe)),
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
    endLeftovers: async () => records?.endLeftovers(),

    reserve(session) {
      const refused = refusal(session)
      if (refused) return refused
      if (session === undefined) return refuse(noSession)
      const place: ReservedPlace = {
        use: (command, started, judge = async () => []) =>
          add(session, command, started, judge).finally(() => place.release()),
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

function newId(taken: ReadonlyMap<string, unknown>): string {
  for (;;) {
    const id = Array.from({ length: idLength }, () => idLetters[randomInt(idLetters.length)]).join('')
    if (!taken.has(id)) return id
  }
}
