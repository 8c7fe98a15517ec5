import type { NotRemovedReason, Removal } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'

export const stayTexts: { readonly [Reason in NotRemovedReason]: string } = {
  running: 'it runs, or one of its questions is open',
  attached: 'someone is attached to it',
  pinned: 'it is pinned',
  open_elsewhere: 'it is open in another process',
}

export const counted = (count: number): string => (count === 1 ? '1 session' : `${count} sessions`)

/** Those that stayed, a line each, with why. */
export const stayedText = ({ stayed }: Pick<Removal, 'stayed'>): string =>
  stayed.map(({ handle, title, reason }) => `${handle} stays, ${stayTexts[reason]}: ${escapeLine(title)}\n`).join('')

/** Those that went, a line each; where there are too many to name, the last line says so. */
export function goneText({ gone, count }: Removal): string {
  const lines = gone.map(({ handle }) => `${handle}\n`).join('')
  return count > gone.length ? `${lines}… and ${count - gone.length} more\n` : lines
}

const workspacesToldMax = 20

/** How many went of which workspace, a line each, and how to have them back. */
export function reachText({ count, workspaces, dryRun }: Removal): string {
  if (count === 0) return ''
  const shown = workspaces.slice(0, workspacesToldMax)
  const lines = shown.map((one) => `${counted(one.count)} of ${escapeLine(one.workspace)}\n`).join('')
  const more = workspaces.length - shown.length
  const rest = more > 0 ? `… and those of ${more} more workspaces\n` : ''
  return `${lines}${rest}${dryRun ? '' : '`holdfast trash restore <session>` takes one out again.\n'}`
}
