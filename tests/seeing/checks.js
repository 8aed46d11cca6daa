// Checks of the page's rules and figures, run beside them in the browser. Only the tests need it.

/** FNV-1a, 64 bits. */
function fnv1a(text) {
  let value = 0xcbf29ce484222325n;
  for (const glyph of text) value = BigInt.asUintN(64, (value ^ BigInt(glyph.charCodeAt(0))) * 0x100000001b3n);
  return value;
}

/** [count, checksum] of the action sequences of exactly `depth` actions, as rules.perft has it. */
function perft(board, depth) {
  if (depth === 0) return [1, fnv1a(`${boardText(board)} +${board.adds}`)];
  const actions = pairs(board).map((pair) => pair.join("-"));
  if (board.adds && !isCleared(board)) actions.push(ADD);
  let [count, sum] = [0, 0n];
  for (const action of actions) {
    const [below, sumBelow] = perft(play(board, action), depth - 1);
    count += below;
    sum = BigInt.asUintN(64, sum + sumBelow);
  }
  return [count, sum];
}

/** Check rows {board, adds, ruleset, depth, count, checksum}; returns those that do not hold. */
function checkPerft(rows) {
  return rows.filter(({ board, adds, ruleset, depth, count, checksum }) => {
    const [found, sum] = perft(parseBoard(board, ruleset, adds), depth);
    return found !== count || sum.toString(16).padStart(16, "0") !== checksum;
  });
}

/** Check rows {board, adds, ruleset, check, expected} of positions.tsv; returns those that do not hold. */
function checkPositions(rows) {
  const answers = {
    legal: (board, expected) => whyNot(board, ...parsePair(expected)) === null,
    illegal: (board, expected) => whyNot(board, ...parsePair(expected)) !== null,
    pairs: (board, expected) =>
      pairs(board)
        .map((pair) => pair.join("-"))
        .join(" ") === expected,
    "pair-count": (board, expected) => pairs(board).length === Number(expected),
    add: (board, expected) => boardText(play({ ...board, adds: 1 }, ADD)) === expected,
    parse: (board, expected) => boardText(board) === expected,
  };
  return rows.filter(({ board, ruleset, check, expected }) => {
    const start = parseBoard(board, ruleset);
    if (check.startsWith("play ")) return boardText(play(start, check.slice(5))) !== expected;
    return !answers[check](start, expected);
  });
}

/** Play games through: [{ruleset, board, adds, steps: [{action, board, pairs, links, classes, word, reasons, stuck, cleared}]}]. */
function checkGames(games) {
  const wrong = [];
  for (const { ruleset, board, adds, steps } of games) {
    let now = parseBoard(board, ruleset, adds);
    for (const step of steps) {
      if (step.action) now = play(now, step.action);
      const found = {
        action: step.action,
        board: `${boardText(now)} +${now.adds}`,
        pairs: pairs(now).map((pair) => pair.join("-")),
        links: pairs(now).map(([i, j]) => links(now, i, j).join()),
        classes: classCounts(now),
        word: reducedWord(now),
        reasons: step.reasons.map(([i, j]) => [i, j, reasonText(now, i, j)]),
        stuck: isStuck(now),
        cleared: isCleared(now),
      };
      if (JSON.stringify(found) !== JSON.stringify(step)) {
        wrong.push({ found, expected: step });
        break;
      }
    }
  }
  return wrong;
}

/** A reason in short: "" for a pair, "hole", "match", "apart", or the blocks as "cell link; cell link". */
function reasonText(board, i, j) {
  const reason = whyNot(board, i, j);
  if (!reason) return "";
  return reason.kind === "blocked" ? reason.blocks.map(({ cell, link }) => `${cell} ${link}`).join("; ") : reason.kind;
}

/** The interval of every [passed, playouts]. */
function intervals(counts) {
  return counts.map(([passed, playouts]) => wilson(passed, playouts));
}
