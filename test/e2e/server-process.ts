import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { connectSessions, type RemoteSessions } from '@holdfast/client'

const root = resolve(import.meta.dirname, '../..')
export const bin = join(root, 'packages/holdfast/bin/holdfast.mjs')

/** A real server in its own process and home. */
export interface ServerProcess {
  readonly url: string
  readonly token: string
  readonly loginLink: string
  readonly sessions: RemoteSessions
  readonly process: ChildProcess
  /** Kills it like a power cut: no warning, no cleanup. */
  kill(): Promise<void>
  stop(): Promise<number | null>
}

export type ServerProcessOptions = {
  readonly home: string
  /** 0, the default, is any free port. */
  readonly port?: number
  readonly env?: { readonly [name: string]: string }
  /** More arguments of `serve`. */
  readonly args?: readonly string[]
  /** A module to load into the process before the server. It may talk to this process over an IPC channel. */
  readonly preload?: string
}

export async function startServerProcess({
  home,
  port = 0,
  env = {},
  args = [],
  preload,
}: ServerProcessOptions): Promise<ServerProcess> {
  const loaded = preload === undefined ? [] : ['--import', preload]
  const child = spawn(process.execPath, [...loaded, bin, 'serve', '--port', String(port), ...args], {
    env: { ...process.env, HOLDFAST_HOME: home, DEMO_PACE: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : (['ipc'] as const))],
  })
  const errors: string[] = []
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  const loginLink = await firstLink(child, errors)
  const file = JSON.parse(await readFile(join(home, 'state/server.json'), 'utf8'))
  const token = (await readFile(file.tokenFile, 'utf8')).trim()
  const url: string = file.url
  const ended = once(child, 'exit')
  return {
    url,
    token,
    loginLink,
    sessions: connectSessions({ url, token }),
    process: child,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      const [code] = await ended
      return code
    },
  }
}

async function firstLink(child: ChildProcess, errors: readonly string[]): Promise<string> {
  if (!child.stdout) throw new Error('the server has no stdout')
  for await (const line of createInterface({ input: child.stdout })) {
    const link = /https?:\/\/\S+\/login\?code=\S+/.exec(line)
    if (link) return link[0]
  }
  throw new Error(`the server did not start:\n${errors.join('')}`)
}
