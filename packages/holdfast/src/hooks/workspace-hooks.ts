import { readFile } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { escapeLine } from '@holdfast/protocol'
import { openFile } from '../system/files/open-file.ts'
import { isInside } from '../system/files/resolve-path.ts'
import { filesNamedBy } from '../trust/named-files.ts'
import { createOffer, type Offer } from '../trust/offer.ts'
import type { OfferPlace } from '../trust/offer-trust.ts'
import { type DeclaredHook, findHooks, type UnsupportedHook } from './hook-config.ts'

/** A hook that a workspace offers. It runs once a person trusts its offer. */
export type OfferedHook = {
  readonly hook: DeclaredHook | UnsupportedHook
  /** Hooks of `.claude` expect the names of another program. */
  readonly isClaude: boolean
  readonly offer: Offer
}

const files = [
  { path: '.holdfast/hooks.json', isClaude: false },
  { path: '.claude/settings.json', isClaude: true },
  { path: '.claude/settings.local.json', isClaude: true },
] as const

const settingsBytesMax = 1024 * 1024
/** A longer file that a hook runs is identified by its hash alone. */
const shownBytesMax = 16 * 1024
const scriptBytesMax = 16 * 1024 * 1024
const scriptsMax = 20
const pathCharsMax = 4096

/** Finds the hooks that the files of a workspace declare, in its root and in the workdir. */
export async function findWorkspaceHooks({ workdir, workspace }: OfferPlace): Promise<readonly OfferedHook[]> {
  const folders = workdir === workspace ? [workspace] : [workspace, workdir]
  const found: OfferedHook[] = []
  for (const folder of folders)
    for (const file of files) {
      const path = join(relative(workspace, folder), file.path)
      found.push(...(await readHooks({ workdir, workspace }, path, file.isClaude)))
    }
  return found
}

/** Returns what the hooks of a workspace would do, for the list of what needs trust. */
export const findHookOffers = async (place: OfferPlace): Promise<readonly Offer[]> =>
  (await findWorkspaceHooks(place)).map(({ offer }) => offer)

async function readHooks(place: OfferPlace, path: string, isClaude: boolean): Promise<readonly OfferedHook[]> {
  const bytes = await readBytes(place.workspace, path, settingsBytesMax)
  if (bytes === null) return []
  const counts = new Map<string, number>()
  const nameOf = (event: string) => {
    counts.set(event, (counts.get(event) ?? 0) + 1)
    return `${escapeLine(path)} ${escapeLine(event)} ${counts.get(event)}`
  }
  let json: unknown
  try {
    json = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''))
  } catch {
    return [notRun({ event: 'hooks', text: '', why: 'the file is not JSON' }, nameOf('hooks'), path, isClaude)]
  }
  const { hooks, unsupported } = findHooks(json)
  const offered: OfferedHook[] = []
  for (const hook of hooks) offered.push(await offerHook(place, { hook, name: nameOf(hook.event), path, isClaude }))
  return [...offered, ...unsupported.map((hook) => notRun(hook, nameOf(hook.event), path, isClaude))]
}

function notRun(hook: UnsupportedHook, name: string, path: string, isClaude: boolean): OfferedHook {
  const text = `Holdfast does not run this hook: ${hook.why}\n${hook.text}`
  return { hook, isClaude, offer: createOffer({ kind: 'hook', name, path, text }) }
}

type Named = { readonly hook: DeclaredHook; readonly name: string; readonly path: string; readonly isClaude: boolean }

/** Describes a hook in full: its command, and the files of the workspace that the command names. */
async function offerHook(place: OfferPlace, { hook, name, path, isClaude }: Named): Promise<OfferedHook> {
  const scripts = await readScripts(place, hook)
  const { event, matcher, command, args, timeoutMs, continuesOnFailure, note } = hook
  const text = [
    `At ${event}${matcher === '' || matcher === '*' ? '' : ` for ${matcher}`} run${args ? ' without a shell' : ''}:`,
    [command, ...(args ?? [])].join(' '),
    ...(timeoutMs === undefined ? [] : [`It may take ${timeoutMs / 1000} s.`]),
    ...(continuesOnFailure ? ['If it fails, what it was asked about goes on.'] : []),
    ...(note === undefined ? [] : [note]),
    ...[...scripts].flatMap(([file, content]) => [`File ${escapeLine(file)}:`, shownText(content)]),
  ].join('\n')
  return { hook, isClaude, offer: createOffer({ kind: 'hook', name, path, text, files: scripts }) }
}

function shownText(content: Uint8Array): string {
  if (content.length > shownBytesMax || content.includes(0)) return `[${content.length} bytes]`
  return Buffer.from(content).toString('utf8')
}

/** Reads the files of the workspace that a hook names: an unchanged hook may run a changed script. */
async function readScripts({ workspace, workdir }: OfferPlace, hook: DeclaredHook): Promise<Map<string, Uint8Array>> {
  const scripts = new Map<string, Uint8Array>()
  for (const word of filesNamedBy(wordsOf(hook, workspace))) {
    for (const folder of new Set([workdir, workspace])) {
      const path = isAbsolute(word) ? word : resolve(folder, word)
      const name = relative(workspace, path)
      if (name === '' || scripts.has(name) || scripts.size >= scriptsMax || !isInside(workspace, path)) continue
      const content = await readBytes(workspace, name, scriptBytesMax)
      if (content !== null) scripts.set(name, content)
    }
  }
  return scripts
}

const separators = /[\s;|&<>()`=]+/
const quotes = /['"]/

/** Returns the words of a command that may name a file. More than the shell would see is no harm. */
function wordsOf({ command, args = [] }: DeclaredHook, workspace: string): readonly string[] {
  const words = [command, ...args].flatMap((text) => [
    text,
    ...text.replaceAll(/['"]/g, '').split(separators), // "$CLAUDE_PROJECT_DIR"/check.sh is one word
    ...text.split(quotes).flatMap((part) => [part, ...part.split(separators)]), // 'my check.sh' is one, too
  ])
  const named = words.map((word) => word.replaceAll(/\$\{?CLAUDE_PROJECT_DIR\}?/g, () => workspace))
  return [...new Set(named)].filter((word) => word !== '' && !word.includes('\0') && word.length <= pathCharsMax)
}

/** Reads a regular file of the workspace; null if there is none that can be read. */
async function readBytes(workspace: string, path: string, bytesMax: number): Promise<Buffer | null> {
  const opened = await openFile(workspace, path).catch(() => null)
  if (!opened?.ok) return null
  await using handle = opened.value.handle
  const { size, mtimeMs } = opened.value.stats
  if (size > bytesMax) return Buffer.from(`${size} bytes of ${mtimeMs}`) // too long to read: its size and time must do
  return await readFile(handle).catch(() => null) // before the handle is closed
}
