import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { fault, type Meta, noWorkdir, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { type ReachedSessions, withExistingSessions } from '../../connect/connect.ts'
import { resolvePath } from '../../connect/workspace.ts'
import { counted } from '../../render/tables.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { storeSpecs } from './specs.ts'

const pageSize = 500
/** This many sessions are named: an import of another program's folder may have thousands. */
const handlesMax = 20

type Named = Pick<Meta, 'id' | 'handle' | 'title'>
type Moves = {
  readonly moved: (Named & { readonly workspace: string })[]
  readonly stayed: (Named & { readonly reason: string })[]
  /** How many sessions have no folder and were not meant. */
  withoutFolder: number
}

export const run: RunCommand<(typeof storeSpecs)['mv-workspace']> = async (
  { positionals: [first = '', second = ''], flags },
  context,
) => {
  // An empty path means the sessions without a folder, not the current directory.
  const from = first === noWorkdir ? noWorkdir : orThrow(resolvePath(context, first))
  const target = orThrow(resolveDirectory(orThrow(resolvePath(context, second))))
  const dryRun = flags['dry-run']
  return withExistingSessions(context, async (reached) => {
    // Sessions may record the path as given, or with its links resolved.
    const oldPaths = from === noWorkdir ? [from] : [from, resolveExistingPart(from)].filter((path) => path !== target)
    const moves = await moveAll(reached, oldPaths, target, dryRun)
    if (flags.json) await context.out.writeJson({ count: moves.moved.length, ...moves, dryRun })
    else await printMoves(moves, target, dryRun, context)
    return moves.stayed.length > 0 ? exitCodes.failed : exitCodes.ok
  })
}

/** Resolves the links of the part of a path that exists; the folder itself may be gone. */
function resolveExistingPart(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(resolveExistingPart(parent), basename(path))
  }
}

function resolveDirectory(path: string): Result<string> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return ok(realpathSync(path))
  const problem = stat ? 'is not a folder' : 'does not exist'
  return refuse(fault('bad_workdir', `${path} ${problem}. Move the folder there first.`, { path }))
}

/** Returns the new path of a folder that was at or below one of `from`; null if it was not. */
export function movedPath(folder: string, from: readonly string[], to: string): string | null {
  const isBelow = (one: string) => one !== noWorkdir && folder.startsWith(one.endsWith(sep) ? one : `${one}${sep}`)
  const old = from.find((one) => folder === one || isBelow(one))
  if (old === undefined) return null
  return `${to}${folder.slice(old.endsWith(sep) ? old.length - 1 : old.length)}`
}

async function moveAll(
  reached: ReachedSessions | null,
  from: readonly string[],
  to: string,
  dryRun: boolean,
): Promise<Moves> {
  const moves: Moves = { moved: [], stayed: [], withoutFolder: 0 }
  if (reached === null) return moves
  let cursor: string | undefined
  do {
    const page = orThrow(await reached.sessions.list({ limit: pageSize, cursor, subagents: true }))
    for (const meta of page.sessions) {
      const workspace = movedPath(meta.workspace, from, to)
      if (workspace === null) {
        if (meta.workspace === noWorkdir) moves.withoutFolder++
        continue
      }
      const { id, handle, title } = meta
      const reason = dryRun ? reasonToStay(meta, workspace) : await moveSession(reached, id, workspace)
      if (reason === null) moves.moved.push({ id, handle, title, workspace })
      else moves.stayed.push({ id, handle, title, reason })
    }
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return moves
}

/** Returns why a session could not be moved; null if it could. */
function reasonToStay({ status }: Meta, workspace: string): string | null {
  if (status === 'thinking' || status === 'tool_executing') return 'A turn is running. Wait for it, or abort it.'
  const target = resolveDirectory(workspace)
  return target.ok ? null : target.fault.message
}

/** Moves a session and unloads it, since there may be many. Returns why it stays; null if it was moved. */
async function moveSession(reached: ReachedSessions, id: string, workdir: string): Promise<string | null> {
  const handle = await reached.sessions.open(id)
  const answer = handle.ok ? await handle.value.submit({ type: 'moveWorkdir', workdir }) : handle
  await reached.unload(id)
  return answer.ok ? null : answer.fault.message
}

async function printMoves(moves: Moves, to: string, dryRun: boolean, { out, err }: CliContext): Promise<void> {
  const { moved, stayed, withoutFolder } = moves
  await out.write(
    moved
      .slice(0, handlesMax)
      .map(({ handle }) => `${handle}\n`)
      .join(''),
  )
  if (moved.length > handlesMax)
    await err.tell(`… and ${counted(moved.length - handlesMax, 'session')} more. --json names them all.`)
  await err.tell(`${dryRun ? 'Would move' : 'Moved'} ${counted(moved.length, 'session')} to ${escapeLine(to)}.`)
  if (moved.length === 0 && withoutFolder > 0)
    await err.tell(
      `${counted(withoutFolder, 'session')} without a folder stayed. To give all of them one: holdfast mv-workspace '' <folder>`,
    )
  if (moved.length > 0 && !dryRun) await err.tell('Trust given in the old folder does not carry over.')
  for (const { handle, reason } of stayed) await err.tell(`${handle} stays: ${escapeLine(reason)}`)
}
