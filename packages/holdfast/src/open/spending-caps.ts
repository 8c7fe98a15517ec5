import type { SpendingRows, TokenRows } from '@holdfast/core/ports'
import {
  Cap,
  CapScope,
  type Day,
  dayAfter,
  dayOf,
  escapeLine,
  type Fault,
  fault,
  type ListedCap,
  limits,
  localPayer,
  noWorkdir,
  ok,
  parseOptions,
  type Result,
  reachedAmount,
  refuse,
  type Spending,
  type SpendingCaps,
  SpendingOptions,
} from '@holdfast/protocol'

type SpendingDeps = {
  readonly rows: SpendingRows & Pick<TokenRows, 'tokens'>
  /** The caps of the program and its configuration. */
  readonly given: readonly Cap[]
  readonly now: () => number
  readonly resolveWorkdir: (path: string) => Promise<Result<string>>
}

/** Tells what was spent, and sets the caps of the store. */
export function createSpendingCaps(deps: SpendingDeps): SpendingCaps {
  const { rows, given } = deps
  return {
    read: (options = {}) => readSpending(deps, options),

    async set(asked) {
      const cap = parseOptions(Cap, asked, 'set the cap')
      if (!cap.ok) return cap
      const { token: _, workspace: _workspace, ...amounts } = cap.value
      const scope = await resolveScope(deps, cap.value)
      if (!scope.ok) return scope
      const known = await rows.caps()
      if (known.length >= limits.capsMax && !known.some((one) => isSame(one, scope.value))) return refuse(tooMany)
      const set = { ...scope.value, ...amounts }
      const stored = await rows.setCap(set)
      return stored.ok ? ok(await listCap(deps, set, 'person')) : stored
    },

    async remove(asked = {}) {
      const scope = parseOptions(CapScope, asked, 'remove the cap')
      if (!scope.ok) return scope
      const known = await rows.caps()
      // The token may be revoked and the folder gone.
      const asGiven = known.find((one) => isSame(one, scope.value))
      const resolved: Result<CapScope> = asGiven ? ok(asGiven) : await resolveScope(deps, scope.value)
      if (!resolved.ok) return resolved
      const cap = known.find((one) => isSame(one, resolved.value))
      if (!cap) return refuse(noCap(given.some((one) => isSame(one, resolved.value))))
      const listed = await listCap(deps, cap, 'person')
      const { token, workspace } = cap
      const removed = await rows.removeCap({ token, workspace })
      return removed.ok ? ok(listed) : removed
    },
  }
}

const todayOf = ({ now }: SpendingDeps): Day => dayOf(new Date(now()).toISOString())

async function readSpending(deps: SpendingDeps, options: SpendingOptions): Promise<Result<Spending>> {
  const { rows, given } = deps
  const asked = parseOptions(SpendingOptions, options, 'read what was spent')
  if (!asked.ok) return asked
  const day = asked.value.day ?? todayOf(deps)
  const [listed, tokens, stored] = await Promise.all([
    rows.listSpending(day, limits.spendingRowsMax),
    rows.tokens(),
    rows.caps(),
  ])
  const names = new Map<string, string>(tokens.map(({ id, name }) => [id, name]))
  return ok({
    day,
    opensAt: dayAfter(todayOf(deps)),
    total: listed.total,
    tokens: listed.payers.map(({ payer, ...spent }) => ({
      token: payer,
      name: names.get(payer) ?? null,
      ...spent,
    })),
    workspaces: [...listed.workspaces],
    caps: await Promise.all([
      ...given.map((cap) => listCap(deps, cap, 'program')),
      ...stored.map((cap) => listCap(deps, cap, 'person')),
    ]),
  })
}

/** Returns a cap with what was spent of it today. */
async function listCap(deps: SpendingDeps, cap: Cap, setBy: ListedCap['setBy']): Promise<ListedCap> {
  const { token = null, workspace = null, maxCost = null, maxTokens = null } = cap
  const sums = await deps.rows.spentOn(todayOf(deps), { payer: token ?? localPayer, workspace: workspace ?? noWorkdir })
  const spent = token !== null ? sums.payer : workspace !== null ? sums.workspace : sums.all
  const found = token === null ? undefined : (await deps.rows.tokens()).find(({ id }) => id === token)
  return {
    token,
    name: found?.name ?? null,
    workspace,
    maxCost,
    maxTokens,
    setBy,
    spent,
    isReached: reachedAmount(cap, spent) !== null,
  }
}

/** Finds the token that an id or a name means, and the real path of a folder. */
async function resolveScope(
  { rows, resolveWorkdir }: SpendingDeps,
  { token, workspace }: CapScope,
): Promise<Result<CapScope>> {
  if (token !== undefined) {
    const payer = token === localPayer ? ok(token) : await findToken(rows, token)
    return payer.ok ? ok({ token: payer.value }) : payer
  }
  if (workspace === undefined) return ok({})
  const real = await resolveWorkdir(workspace)
  return real.ok ? ok({ workspace: real.value }) : real
}

async function findToken(rows: Pick<TokenRows, 'tokens'>, name: string): Promise<Result<string>> {
  const tokens = await rows.tokens()
  const byId = tokens.find(({ id }) => id === name)
  const fits = byId ? [byId] : tokens.filter((token) => token.name === name)
  const [token, another] = fits
  if (token === undefined) return refuse(noToken(name))
  return another === undefined ? ok(token.id) : refuse(sameName(name))
}

const isSame = (one: CapScope, other: CapScope): boolean =>
  one.token === other.token && one.workspace === other.workspace

const noToken = (name: string): Fault =>
  fault('not_found', `There is no token ${escapeLine(name)}. holdfast token list lists them; local is this machine.`, {
    name,
  })

const sameName = (name: string): Fault =>
  fault('bad_id', `Several tokens are named ${escapeLine(name)}. Give the id of one: holdfast token list.`, { name })

const tooMany = fault('too_large', `There are ${limits.capsMax} caps, which is the limit. Remove one first.`)

const noCap = (isGiven: boolean): Fault =>
  isGiven
    ? fault('not_found', 'This cap is set by the configuration or the program. Change it there.')
    : fault('not_found', 'There is no such cap. holdfast caps lists them.')

/** Resolves the folders of the caps of a configuration. Refused: bad_config for a token that is not an id. */
export async function resolveGivenCaps(
  caps: readonly Cap[],
  resolveWorkdir: SpendingDeps['resolveWorkdir'],
): Promise<Result<readonly Cap[]>> {
  const resolved: Cap[] = []
  for (const cap of caps) {
    const { token, workspace } = cap
    if (token !== undefined && token !== localPayer && !/^tok_[0-9a-f]{16}$/.test(token))
      return refuse(
        fault('bad_config', `A cap is for the token ${escapeLine(token)}. Give the id of a token, tok_…, or local.`),
      )
    const real = workspace === undefined ? null : await resolveWorkdir(workspace)
    resolved.push(real?.ok ? { ...cap, workspace: real.value } : cap)
  }
  return ok(resolved)
}
