import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { type McpServers, signInTo } from '../../open-servers.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { failWith } from '../terminal/exit.ts'
import { askLine } from '../terminal/prompt-user.ts'

type Login = {
  readonly servers: McpServers
  readonly workdir: string
  readonly name: string
  readonly port: number | undefined
}

/** Signs the person in to a server: prints the page, and waits for the browser or for the pasted address. */
export async function loginTo({ servers, workdir, name, port }: Login, context: CliContext): Promise<void> {
  const { home, err, input, untilInterrupted } = context
  const interruption = untilInterrupted()
  const server = orThrow(await servers.find(workdir, name))
  const listed = (await servers.list(workdir)).servers.find((one) => one.name === name)
  const signedIn = await signInTo({
    ...{ home, server, port, isWanted: listed?.state === 'needs_sign_in' },
    async authorize(page, { wait }) {
      await err.write(`Open this page and sign in to ${escapeLine(name)}:\n\n${escapeLine(page.href)}\n\n`)
      const over = new AbortController()
      const signal = AbortSignal.any([over.signal, interruption])
      const waiting = [wait(signal), ...(input().isTTY ? [readPasted(context, signal)] : [])]
      const callback = await Promise.race(waiting)
      over.abort()
      return callback
    },
  })
  if (!signedIn.ok) return failWith(signedIn.fault)
  if (signedIn.value === 'not needed') return void (await err.write(`${escapeLine(name)} needs no sign-in.\n`))
  const tried = await servers.test(workdir, name, interruption)
  if (!tried.ok) return failWith(tried.fault)
  await err.write(`Signed in to ${escapeLine(name)}. It has ${tried.value.tools?.length ?? 0} tools.\n`)
}

/** Reads the address that a browser on another machine ended at. Null if the person gives up. */
async function readPasted({ input, err }: CliContext, signal: AbortSignal): Promise<URL | null> {
  const question =
    'If your browser is on another machine, paste the address that it ends at, although it shows an error:\n'
  for (;;) {
    const typed = await askLine(question, { input: input(), err, signal })
    if (typed === null) return null
    const url = URL.parse(typed.trim())
    if (url?.searchParams.has('state')) return url
    await err.write('This is not the address. It begins with http://127.0.0.1 and contains "state=".\n')
  }
}
