import type { NotRemovedReason, Removal } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { CliContext } from '../terminal/cli-context.ts'
import { counted } from './tables.ts'

const stayReasons: { readonly [Reason in NotRemovedReason]: string } = {
  running: 'it is running or waits for an approval',
  attached: 'a client is attached to it',
  pinned: 'it is pinned',
  open_elsewhere: 'another process has it open',
}

const workspacesMax = 20

/** Prints a removal: handles on standard output, the sentence about them (`did`, or `would` in a dry run) on standard error. */
export async function printRemoval(
  removal: Removal,
  { did, would }: { readonly did: string; readonly would: string },
  isJson: boolean,
  { out, err }: CliContext,
): Promise<void> {
  if (isJson) return out.writeJson(removal)
  const { gone, count, stayed, dryRun } = removal
  const more = count - gone.length
  await out.write(`${gone.map(({ handle }) => `${handle}\n`).join('')}${more > 0 ? `… and ${more} more\n` : ''}`)
  await err.tell(`${dryRun ? would : did} ${counted(count, 'session')}.`)
  for (const { handle, title, reason } of stayed)
    await err.tell(`${handle} stays, because ${stayReasons[reason]}: ${escapeLine(title)}`)
}

export const movedToTrash = { did: 'Moved to the trash:', would: 'Would move to the trash:' }
export const deletedForever = { did: 'Deleted permanently:', would: 'Would delete permanently:' }

export const nothingRemoved = (dryRun: boolean): Removal => ({
  count: 0,
  gone: [],
  workspaces: [],
  stayed: [],
  dryRun,
})

/** Prints how many sessions of each workspace were removed, and how to restore them. */
export async function printWorkspaces({ count, workspaces, dryRun }: Removal, { err }: CliContext): Promise<void> {
  if (count === 0) return
  for (const one of workspaces.slice(0, workspacesMax))
    await err.tell(`${counted(one.count, 'session')} of ${escapeLine(one.workspace)}`)
  const more = workspaces.length - workspacesMax
  if (more > 0) await err.tell(`… and sessions of ${more} more workspaces`)
  if (!dryRun) await err.tell('To restore one: holdfast trash restore <session>')
}
