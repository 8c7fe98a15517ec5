import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { McpServers } from '../../../open/open-servers.ts'
import { reportProblem } from '../../connect/connect.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { failWith } from '../../terminal/exit.ts'
import { askLine } from '../../terminal/prompt-user.ts'

const workspace = `'\${WORKSPACE}'` // a variable of the configuration, which the shell must not expand
export const serverExample = `holdfast mcp add files -- npx -y @modelcontextprotocol/server-filesystem ${workspace}`

/** Works with the configured MCP servers, and ends those that were started. */
export async function withServers<Value>(
  context: CliContext,
  work: (servers: McpServers) => Promise<Value>,
): Promise<Value> {
  const { home, environment } = context
  const { openServers } = await import('../../../open/open-servers.ts')
  const servers = openServers({ home, environment, onProblem: reportProblem(context) })
  try {
    return await work(servers)
  } finally {
    await servers.close()
  }
}

/** Returns the folder whose servers are meant. */
export const workdirOf = (context: CliContext, flags: { readonly workspace?: string | undefined }): string =>
  orThrow(resolveWorkspace(context, flags.workspace))

type Login = {
  readonly servers: McpServers
  readonly workdir: string
  readonly name: string
  readonly port: number | undefined
}

/** Signs the person in to a server: prints the page, and waits for the browser or for the pasted address. */
export async function loginTo({ servers, workdir, name, port }: Login, context: CliContext): Promise<void> {
  const { home, err, input, untilInterrupted } = context
  const { signInTo } = await import('../../../open/open-servers.ts')
  const interruption = untilInterrupted()
  const server = orThrow(await servers.find(workdir, name))
  const listed = (await servers.list(workdir)).servers.find((one) => one.name === name)
  const signedIn = await signInTo({
    home,
    server,
    port,
    isWanted: listed?.state === 'needs_sign_in',
    async authorize(page, { wait }) {
      await err.tell(`Open this page and sign in to ${escapeLine(name)}:\n\n${escapeLine(page.href)}\n`)
      const over = new AbortController()
      const signal = AbortSignal.any([over.signal, interruption])
      const waiting = [wait(signal), ...(input().isTTY ? [readPasted(context, signal)] : [])]
      const callback = await Promise.race(waiting)
      over.abort()
      return callback
    },
  })
  if (!signedIn.ok) return failWith(signedIn.fault)
  if (signedIn.value === 'not needed') return void (await err.tell(`${escapeLine(name)} needs no sign-in.`))
  const tried = await servers.test(workdir, name, interruption)
  if (!tried.ok) return failWith(tried.fault)
  await err.tell(`Signed in to ${escapeLine(name)}. It has ${tried.value.tools?.length ?? 0} tools.`)
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
    await err.tell('This is not the address. It begins with http://127.0.0.1 and contains "state=".')
  }
}
