import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fault, type Meta, ok, type Result, refuse, type Sessions } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { counted } from '../../render/removal-text.ts'
import { hasSessions, type ReachedSessions, reachSessions } from '../../sessions/connect.ts'
import { movedPath } from '../../sessions/moved-path.ts'
import { currentDirectory } from '../../sessions/workspace.ts'
import { type Ended, ended, exitCodes, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

const pageSize = 500

type Named = Pick<Meta, 'id' | 'handle' | 'title'>
type Move = {
  readonly moved: (Named & { readonly workspace: string })[]
  readonly stayed: (Named & { readonly reason: string })[]
}

/** Lets sessions follow their folder. The page of a list is left before the next is read: a session may be large. */
export async function mvWorkspace({ words, flags }: ArgsOf<'mv-workspace'>, place: CliContext): Promise<Ended> {
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const [from = '', to = ''] = words.map((word) => resolve(here.value, word))
  const target = realDirectory(to)
  if (!target.ok) return refused(target.fault)
  const formerly = namesOf(from).filter((one) => one !== target.value)
  const there = hasSessions(place)
  if (!there.ok) return refused(there.fault)
  const dryRun = flags['dry-run']
  const move: Move = { moved: [], stayed: [] }
  if (there.value) {
    const reached = await reachSessions(place)
    if (!reached.ok) return refused(reached.fault)
    try {
      const followed = await followAll(reached.value, { from: formerly, to: target.value, dryRun }, move)
      if (!followed.ok) return refused(followed.fault)
    } finally {
      await reached.value.close()
    }
  }
  await tell(move, { to: target.value, dryRun, isJson: flags.json }, place)
  return ended(move.stayed.length > 0 ? exitCodes.failed : exitCodes.ok)
}

/** What sessions of this folder may have recorded: the path as it is written, and the real one behind its links. */
function namesOf(path: string): readonly string[] {
  return [...new Set([path, realAsFarAsThere(path)])]
}

/** The real path of what is still there, and the rest as it was: a folder that is gone still has a place. */
function realAsFarAsThere(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realAsFarAsThere(above), basename(path))
  }
}

function realDirectory(path: string): Result<string> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return ok(realpathSync(path))
  const what = stat ? 'is no folder' : 'does not exist'
  return refuse(fault('bad_workdir', `${path} ${what}. Move the folder first.`, { path }))
}

type Asked = { readonly from: readonly string[]; readonly to: string; readonly dryRun: boolean }

async function followAll(reached: ReachedSessions, asked: Asked, move: Move): Promise<Result<void>> {
  let cursor: string | undefined
  do {
    const page = await reached.sessions.list({ limit: pageSize, cursor })
    if (!page.ok) return page
    for (const meta of page.value.sessions) {
      const workspace = movedPath(meta.workspace, asked.from, asked.to)
      if (workspace === null) continue
      const { id, handle, title } = meta
      const reason = asked.dryRun ? whyNot(meta, workspace) : await follow(reached, meta, workspace)
      if (reason === null) move.moved.push({ id, handle, title, workspace })
      else move.stayed.push({ id, handle, title, reason })
    }
    cursor = page.value.next ?? undefined
  } while (cursor !== undefined)
  return ok(undefined)
}

/** Why it would stay; null when it would go. */
function whyNot({ status }: Meta, workspace: string): string | null {
  if (status === 'thinking' || status === 'tool_executing') return 'A turn is running. Wait for it, or abort it.'
  const target = realDirectory(workspace)
  return target.ok ? null : target.fault.message
}

async function follow({ sessions, leave }: ReachedSessions, { id }: Meta, workdir: string): Promise<string | null> {
  const answer = await submit(sessions, id, workdir)
  await leave(id)
  return answer.ok ? null : answer.fault.message
}

async function submit(sessions: Sessions, id: string, workdir: string): Promise<Result<unknown>> {
  const handle = await sessions.open(id)
  return handle.ok ? handle.value.submit({ type: 'moveWorkdir', workdir }) : handle
}

type Told = { readonly to: string; readonly dryRun: boolean; readonly isJson: boolean }

async function tell({ moved, stayed }: Move, { to, dryRun, isJson }: Told, { out, err }: CliContext): Promise<void> {
  if (isJson) return out.write(`${toJsonText({ count: moved.length, moved, stayed, dryRun })}\n`)
  await out.write(moved.map(({ handle }) => `${handle}\n`).join(''))
  await err.write(
    `${counted(moved.length)} ${dryRun ? 'would work' : moved.length === 1 ? 'works' : 'work'} in ${escapeLine(to)} now.\n`,
  )
  if (moved.length > 0 && !dryRun) await err.write('What the former folder trusts is not carried over.\n')
  for (const { handle, reason } of stayed) await err.write(`${handle} stays: ${escapeLine(reason)}\n`)
}
