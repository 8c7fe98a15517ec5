import { execFile } from 'node:child_process'
import { access, constants, realpath } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { clip } from '@holdfast/protocol'
import { trialArguments } from './bubblewrap.ts'

const run = promisify(execFile)
const trialMs = 5000
const usualDirectories = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin']

/** Bubblewrap on this machine, or part of a sentence that says why it cannot be used. */
export type Bubblewrap = { readonly path: string } | { readonly path: null; readonly reason: string }

/**
 * Finds bubblewrap and runs it once: many systems have it installed and forbid what it needs. The usual directories come
 * first, because a workspace may have put a directory of its own into the search path.
 */
export async function findBubblewrap(searchPath = ''): Promise<Bubblewrap> {
  const searched = searchPath.split(delimiter).filter((directory) => isAbsolute(directory))
  for (const directory of [...usualDirectories, ...searched]) {
    const path = await realpath(join(directory, 'bwrap')).catch(() => null)
    if (path === null || !(await isExecutable(path))) continue
    const failure = await tryOut(path)
    return failure === null ? { path } : { path: null, reason: `bubblewrap does not work here (${failure})` }
  }
  return { path: null, reason: 'bubblewrap (bwrap) is not installed' }
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

/** Runs a program that does nothing in a sandbox. Returns what went wrong, or null. */
async function tryOut(path: string): Promise<string | null> {
  try {
    await run(path, trialArguments, { timeout: trialMs, env: {}, cwd: '/' })
    return null
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string } // as execFile rejects
    const [line = ''] = (stderr || message).trim().split('\n')
    return clip(line.replace(/^bwrap: /, ''), 200)
  }
}
