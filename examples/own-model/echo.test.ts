import { aRequest, describeProvider, userSays } from 'holdfast/testkit'
import { echo } from './echo.ts'

const saying = (text: string) => ({ ...aRequest(), messages: [userSays(text)] })

// One request for each behaviour: a short answer, one that can be aborted midway, and one that fails.
describeProvider('echo', async () => ({
  provider: echo,
  plain: saying('Hello there.'),
  long: saying('Row, row, row your boat, gently down the stream.'),
  failing: saying(''),
}))
