import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fault } from '@holdfast/protocol/fault'
import { ensurePrivateDirectory } from '../../../system/files/private-directory.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { connectServer } from '../../connect/connect.ts'
import { writePrivateFile } from '../../connect/server-file.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { failWith } from '../../terminal/exit.ts'
import { linkFromHere } from './links.ts'
import type { programSpecs } from './specs.ts'

const startMsMax = 1500

/** Opens the page of the running server in the browser, logged in. */
export const run: RunCommand<typeof programSpecs.open> = async (_, context) => {
  const { home, pid, environment, out, err } = context
  const { url, holdfast } = await connectServer(context)
  const link = linkFromHere((await holdfast.createLoginLink()).link, context)
  // Not on the command line of the browser: others could read the link in the list of processes, and use it first.
  const file = join(home.stateDir, 'open-page.html')
  ensurePrivateDirectory(home.stateDir) // on a machine that only uses servers elsewhere it is missing
  await writePrivateFile(file, redirectTo(link), pid)
  const why = await startBrowser(pathToFileURL(file).href, environment)
  if (why === null) return void (await err.tell(`Opened the page of ${url} in the browser.`))
  await out.write(`${link}\n`)
  return failWith(fault('unreachable', `Cannot start a browser: ${why}. Open the link above instead. It works once.`))
}

/** A page that leads to the login link. The code has only letters, digits, - and _, so nothing needs an escape. */
const redirectTo = (link: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Holdfast</title><meta http-equiv="refresh" content="0;url=${link}">\n`

/** Starts the browser and returns why that failed; null if it runs. */
function startBrowser(address: string, environment: CliContext['environment']): Promise<string | null> {
  const [program, ...args] = browserCommand(environment, process.platform)
  return new Promise((resolve) => {
    const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' })
    const timer = setTimeout(() => resolve(null), startMsMax) // it stays open as long as the browser
    const settle = (why: string | null) => {
      clearTimeout(timer)
      resolve(why)
    }
    child.once('error', (error) => settle(`${program}: ${error.message}`))
    child.once('exit', (code) => settle(code === 0 ? null : `${program} ended with ${code}`))
    child.unref()
  })
}

/** Returns the program that opens addresses: `BROWSER`, else the one of the system. */
export function browserCommand(
  { BROWSER }: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] {
  if (BROWSER) return [BROWSER]
  if (platform === 'darwin') return ['open']
  return platform === 'win32' ? ['explorer.exe'] : ['xdg-open']
}
