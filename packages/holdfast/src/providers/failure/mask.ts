import { keyMark, maskKeys } from '../../system/secrets/known-keys.ts'

// What keys look like when a service quotes one back at us: `sk-ant-…`, `Bearer …`, `x-api-key: …`, `?key=…`.
const looksLikeKey =
  /\b(?:sk|pk|rk)-[\w-]{8,}|(?<=\bbearer\s{1,8})[\w.~+/=-]{8,}|(?<=\bx-api-key["':\s]{1,8})[\w.~+/=-]{8,}|(?<=[?&](?:api[_-]?)?key=)[^&\s"'[\]]+/giu
/** The name and password that people put into addresses. */
const inAddress = /(?<=:\/\/)[^/\s@"']+(?=@)/gu

/** What a parser quotes of a text that is no JSON: some characters to each side, which may be a piece of a key. */
const quotedJson = /, (?:\.\.\.)?"[^\n]{0,60}?"(?:\.\.\.)?(?= is not valid JSON)/gu

/** What a service said, so that it may go into a log: without the keys we know, and whatever else looks like one. */
export const maskQuoted = (text: string): string =>
  maskKeys(text).replace(quotedJson, '').replace(looksLikeKey, keyMark).replace(inAddress, keyMark)
