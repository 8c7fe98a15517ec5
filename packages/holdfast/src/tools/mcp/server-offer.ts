import { readFile, stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { clip } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { filesNamedBy } from '../../trust/named-files.ts'
import { createOffer, type Offer } from '../../trust/offer.ts'
import type { ConfiguredServer } from './config/configured-servers.ts'
import { describeConnect, type McpConnect } from './config/server-config.ts'

/** Of a longer file only its size and time are part of what is trusted. */
const fileBytesMax = 4 * 1024 * 1024
/** How much of each file is shown to the person who is asked. */
const shownCharsMax = 16 * 1024

/**
 * Returns a server of a workspace as what the workspace offers: how it is started, and the files of the workspace that its command
 * names, with their content. If one of them changes, it is asked about again.
 */
export async function offerServer(workspace: string, { name, connect, file }: ConfiguredServer): Promise<Offer> {
  const files = new Map<string, Uint8Array>()
  for (const path of pathsOf(connect).map((one) => resolve(workspace, one))) {
    if (path === workspace || !isInside(workspace, path)) continue
    const content = await readIfFile(path)
    if (content !== null) files.set(relative(workspace, path), content)
  }
  const shown = [...files].map(
    ([path, content]) => `\n\n${path}:\n${clip(Buffer.from(content).toString('utf8'), shownCharsMax)}`,
  )
  const covered = connect.type === 'http' ? '' : `\n\n${describeCover([...files.keys()])}`
  const text = `${describeConnect(connect)}${covered}${shown.join('')}`
  return createOffer({ kind: 'server', name, path: relative(workspace, file), text, files })
}

const describeCover = (paths: readonly string[]): string =>
  paths.length === 0
    ? 'Your trust covers this command, and no file of the workspace that it may run.'
    : `Your trust covers this command and ${paths.join(', ')}, and no other file of the workspace that they may run.`

/** Returns the paths that a command may mean by its words, or by variables such as NODE_OPTIONS. */
function pathsOf(connect: McpConnect): readonly string[] {
  if (connect.type === 'http') return []
  const words = [
    connect.command,
    ...connect.args,
    ...Object.values(connect.env).flatMap((text) => [text, ...text.split(/[\s:]+/)]),
  ]
  // The value of an option, and the value that a variable has if it is not set.
  const pieces = words.flatMap((word) => [
    word,
    ...word.split('='),
    ...[...word.matchAll(/:-([^}]*)\}/g)].map(([, text]) => text ?? ''),
  ])
  return filesNamedBy([...new Set(pieces)].filter((piece) => piece !== '' && !piece.startsWith('-')))
}

async function readIfFile(path: string): Promise<Uint8Array | null> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return null
    return found.size > fileBytesMax
      ? Buffer.from(`${found.size} bytes, changed ${found.mtimeMs}`)
      : await readFile(path)
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}
