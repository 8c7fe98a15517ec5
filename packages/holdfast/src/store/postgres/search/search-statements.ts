import type { SearchRequest } from '@holdfast/core/ports'
import { recordColumns } from '../read/columns.ts'
import { isVisible } from '../schema/search-function.ts'

/** The newest records that are not indexed yet, which a search reads one by one. */
export const unindexedMax = 2000
const rowsAtOnce = 250

const columns = `record.pos, record.sid, own.id as holder, ${recordColumns
  .split(', ')
  .map((column) => `record.${column}`)
  .join(', ')}, shown.id as shown`

type Values = {
  readonly values: unknown[]
  /** Adds a value and returns its place in the statement. */
  value(one: unknown): string
}

const createValues = (): Values => {
  const values: unknown[] = []
  return { values, value: (one) => `$${values.push(one)}` }
}

/** Finds matches of the words before a position, newest first. */
export function indexedStatement(request: SearchRequest, expression: string, before: number) {
  const { values, value } = createValues()
  const { role, tool, since, until } = request
  const conditions = [
    `search.words @@ ${value(expression)}::tsquery`,
    `search.pos < ${value(before)}`,
    role === undefined ? null : `search.role = ${value(role)}`,
    tool === undefined ? null : `search.tool = ${value(tool)}`,
    since === undefined ? null : `search.at_ms >= ${value(Date.parse(since))}`,
    until === undefined ? null : `search.at_ms < ${value(Date.parse(until))}`,
  ].filter((condition) => condition !== null)
  const statement = `${shownStatement(request, 'join @search search using (pos)', conditions, value)} limit ${rowsAtOnce}`
  return { statement, values, rowsAtOnce }
}

/** Finds the newest records that are not indexed, whatever their words. */
export function unindexedStatement(request: SearchRequest, top: number) {
  const { values, value } = createValues()
  const conditions = [`waiting.pos <= ${value(top)}`]
  const from = 'join @unindexed waiting using (pos)'
  return { statement: `${shownStatement(request, from, conditions, value)} limit ${unindexedMax}`, values }
}

/** Selects the records that some session shows: within one session and its lineage, or everywhere. */
function shownStatement(
  { session, workspace, tenant }: SearchRequest,
  from: string,
  conditions: readonly string[],
  value: Values['value'],
): string {
  const within = [
    ...(workspace === undefined ? [] : [`shown.workspace = ${value(workspace)}`]),
    ...(tenant === undefined ? [] : [`shown.tenant = ${value(tenant)}`]),
  ]
  if (session === undefined) {
    const where = [...conditions, ...within].join(' and ')
    return `select ${columns} from @record record ${from} join @session own on own.sid = record.sid
      join @session shown
        on shown.sid = case when ${isVisible('own')} then own.sid else @shown_by(own.sid, record.seq) end
      where ${where} order by record.pos desc`
  }
  const where = [...conditions, ...within, 'record.seq <= own.last', isVisible('shown')].join(' and ')
  const id = value(session)
  return `
    with recursive own (sid, id, parent, base, last) as (
      select sid, id, parent, base, head from @session where id = ${id}
      union all
      select above.sid, above.id, above.parent, above.base, least(own.last, own.base)
        from own join @session above on above.sid = own.parent
    )
    select ${columns} from @record record ${from} join own on own.sid = record.sid
      join @session shown on shown.id = ${id}
    where ${where} order by record.pos desc`
}
