import type { ListedToken, Sessions, Tokens } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { withTokens } from '../../connect/connect.ts'
import { openNamed } from '../../connect/session-name.ts'
import { formatTime } from '../../render/local-time.ts'
import { formatAge } from '../../render/tables.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.token>
type Work = (tokens: Tokens, args: Args, context: CliContext, sessions: Sessions | null) => Promise<void>

/** Creates, lists and revokes the tokens that let clients in. A running server applies a change at once. */
export const run: RunCommand<typeof programSpecs.token> = async (args, context) => {
  const [action = 'list', ...rest] = args.positionals
  const work = findAction('token', action, actions)
  const { role, session, tenant, expires } = args.flags
  if (action !== 'create' && [role, session, tenant, expires].some((flag) => flag !== undefined))
    return rejectUsage('--role, --session, --tenant and --expires belong to token create.')
  if (action === 'list' && rest.length > 0) return rejectUsage('token list takes no arguments.')
  if (action !== 'list' && rest[0] === undefined)
    return rejectUsage(action === 'create' ? createExample : 'token revoke needs the id or the name of a token.')
  if (action === 'create' && role === undefined)
    return rejectUsage('token create needs --role: viewer, driver or admin.')
  if (expires === 0) return rejectUsage('--expires must be more than 0.')
  return withTokens(context, { creates: action === 'create' }, (tokens, sessions) =>
    work(tokens, args, context, sessions),
  )
}

const createExample =
  'token create needs a name, such as the device it is for. For example: holdfast token create phone --role driver'

const list: Work = async (tokens, { flags }, { out, err, now }) => {
  const found = orThrow(await tokens.list())
  if (flags.json) return out.writeJson({ tokens: found })
  if (found.length === 0) return err.tell('There are no tokens. holdfast token create makes one.')
  const age = (time: string | null) => (time === null ? 'never' : formatAge(now() - Date.parse(time)))
  const hasTenants = found.some(({ tenant }) => tenant !== undefined)
  const rows = found.map((token) => [
    ...[token.id, escapeLine(token.name), token.role, token.session ?? 'all'],
    ...(hasTenants ? [token.tenant ?? '-'] : []),
    age(token.createdAt),
    ...[age(token.lastUsedAt), endOf(token, now())],
  ])
  await out.write(
    textTable(
      ['ID', 'NAME', 'ROLE', 'SESSION', ...(hasTenants ? ['TENANT'] : []), 'CREATED', 'USED', 'ENDS'],
      rows,
      out,
    ),
  )
}

const endOf = ({ expiresAt }: ListedToken, nowMs: number): string => {
  if (expiresAt === null) return 'never'
  return Date.parse(expiresAt) <= nowMs ? 'has expired' : formatTime(expiresAt, false)
}

const create: Work = async (tokens, { positionals: [, name = ''], flags }, context, sessions) => {
  const { out, err, now } = context
  const { role = 'viewer', session, tenant, expires } = flags // checked above
  const found = session !== undefined && sessions ? orThrow(await openNamed(sessions, context, session)) : null
  const scoped = { ...(found && { session: found.id }), ...(tenant !== undefined && { tenant }) }
  const expiry = expires === undefined ? {} : { expiresAt: new Date(now() + expires).toISOString() }
  const created = orThrow(await tokens.create({ name, role, ...scoped, ...expiry }))
  if (flags.json) return out.writeJson(created)
  const ofTenant = created.tenant === undefined ? '' : ` of the tenant ${created.tenant}`
  const scope = created.session === null ? `all sessions${ofTenant}` : `session ${created.session}`
  await err.tell(`Created ${role} token ${created.id} for ${scope}. It is shown only now:`)
  await out.write(`${created.secret}\n`)
}

const revoke: Work = async (tokens, { positionals: [, name = ''], flags }, { out, err }) => {
  const revoked = orThrow(await tokens.revoke(name))
  if (flags.json) return out.writeJson(revoked)
  await err.tell(`Revoked token ${revoked.id} (${escapeLine(revoked.name)}). What it had open ends within a second.`)
}

const actions = { create, list, revoke }
