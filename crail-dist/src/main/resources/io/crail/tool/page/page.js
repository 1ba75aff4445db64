// SPDX-License-Identifier: Apache-2.0
// Asks the namenode that serves this page for the state of the cluster, and shows it. What comes
// from the cluster becomes text nodes and attributes only, never markup.
'use strict';

(() => {
  const PAUSE_MILLIS = 2000;
  const PATIENCE_MILLIS = 9000;
  const WINDOW_SECONDS = 120;
  const FIRST_BUCKET_POWER = 8;
  const SVG = 'http://www.w3.org/2000/svg';

  const byId = (id) => document.getElementById(id);

  // ---- Text of values ----

  const count = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 0 });

  function bytes(value) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let unit = 0;
    let number = value;
    while (number >= 1024 && unit < units.length - 1) {
      number /= 1024;
      unit++;
    }
    return `${number.toFixed(1).replace('.0', '')} ${units[unit]}`;
  }

  function nanos(value) {
    if (value < 1e3) return `${value.toFixed(0)} ns`;
    if (value < 1e6) return `${(value / 1e3).toPrecision(3)} \u00b5s`;
    if (value < 1e9) return `${(value / 1e6).toPrecision(3)} ms`;
    return `${(value / 1e9).toPrecision(3)} s`;
  }

  function rate(value) {
    return value > 0 && value < 10 ? value.toFixed(1) : count(value);
  }

  function ago(millis) {
    if (millis < 1000) return 'now';
    const seconds = Math.floor(millis / 1000);
    if (seconds < 120) return `${seconds} s ago`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} min ago`;
    return `${Math.floor(seconds / 3600)} h ago`;
  }

  const percent = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : '-');

  // A client may set any time, also one that no calendar has.
  function moment(millis) {
    const date = new Date(millis);
    return Number.isNaN(date.getTime()) ? '-' : date.toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
  }

  // As the commands do: what would break a line or turn the text around becomes an escape.
  function printable(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }

  // ---- Elements ----

  function element(name, attributes, ...children) {
    return fill(document.createElement(name), attributes, children);
  }

  function drawn(name, attributes, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
  }

  function fill(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      made.setAttribute(key, value);
    }
    // A string becomes a text node.
    made.append(...children);
    return made;
  }

  // A cell is a text, or {text, ...} with: number, name, kind (a class), whole (for a shortened text), use ([used, waiting, whole]),
  // link (a path), parts (a list), button (a function). Only cells that changed are made anew, so
  // that a selection and the focus stay where they are.
  const shown = new WeakMap();

  function table(id, rows) {
    const body = byId(id);
    const labels = [...body.parentElement.tHead.rows[0].cells].map((each) => each.textContent);
    rows.forEach((cells, i) => {
      const row = body.rows[i] || body.appendChild(element('tr'));
      cells.forEach((cell, j) => {
        const key = JSON.stringify(cell);
        const old = row.cells[j];
        if (!old || shown.get(old) !== key) {
          const made = makeCell(cell, j === 0);
          made.dataset.label = labels[j];
          shown.set(made, key);
          if (old) old.replaceWith(made);
          else row.append(made);
        }
      });
    });
    while (body.rows.length > rows.length) {
      body.lastElementChild.remove();
    }
  }

  function makeCell(value, first) {
    const cell = typeof value === 'string' ? { text: value } : value;
    const made = element(first ? 'th' : 'td', first ? { scope: 'row' } : {});
    if (cell.number) made.classList.add('number');
    if (cell.kind) made.classList.add(cell.kind);
    if (cell.whole) made.title = cell.whole;
    if (cell.text === '-') made.classList.add('nothing');
    if (cell.use) made.append(bar(...cell.use));
    if (cell.link !== undefined) {
      made.classList.add('name');
      made.append(element('a', { href: hashOf(cell.link) }, cell.text));
    } else if (cell.button) {
      const button = element('button', { type: 'button' }, cell.text);
      button.setAttribute('aria-label', cell.label);
      button.addEventListener('click', () => showPlaces(cell.button, made));
      made.append(button);
    } else {
      if (cell.name) made.classList.add('name');
      made.append(cell.text);
    }
    return made;
  }

  const number = (text) => ({ text, number: true });

  function bar(used, waiting, whole) {
    const width = 100;
    const first = whole > 0 ? Math.min(width, width * used / whole) : 0;
    const second = whole > 0 ? Math.min(width - first, width * waiting / whole) : 0;
    // The numbers stand beside it.
    return drawn('svg', { class: 'bar', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      drawn('rect', { class: 'used', x: 0, y: 0, width: first, height: 10 }),
      drawn('rect', { class: 'waiting', x: first, y: 3, width: second, height: 4 }));
  }

  // ---- Charts ----

  const CURVES = ['', 'second', 'third'];

  // A chart of one value for each namenode, over the last two minutes.
  function chart(id, title, text) {
    const points = [];
    return (seconds, values) => {
      points.push({ seconds, values });
      while (points[0].seconds < seconds - WINDOW_SECONDS) points.shift();
      draw(byId(id), title, text, points);
    };
  }

  function draw(figure, title, text, points) {
    const last = points[points.length - 1];
    const names = [...new Set(points.flatMap((point) => Object.keys(point.values)))].sort();
    const highest = Math.max(0, ...points.flatMap((point) => Object.values(point.values)));
    const top = niceTop(highest);
    // In pixels, so that the text has its size.
    const width = Math.max(200, figure.clientWidth - 30);
    const height = 150;
    const x = (at) => 4 + (width - 8) * (1 - (last.seconds - at) / WINDOW_SECONDS);
    const y = (value) => height - 20 - (height - 38) * (value / top);
    const now = names.map((name) => `${name} ${name in last.values ? text(last.values[name]) : 'nothing'}`);
    const svg = drawn('svg', {
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `${title}: ${now.join(', ')}; at most ${text(highest)} in the last two minutes`,
    });
    for (const value of [0, top]) {
      svg.append(
        drawn('line', { class: 'axis', x1: 0, x2: width, y1: y(value), y2: y(value) }),
        drawn('text', { class: 'scale', x: 2, y: value === 0 ? height - 5 : y(value) - 4 }, text(value)));
    }
    svg.append(drawn('text', { class: 'scale', x: width - 2, y: height - 5, 'text-anchor': 'end' }, 'now'),
      drawn('text', { class: 'scale', x: width / 2, y: height - 5, 'text-anchor': 'middle' }, '1 min ago'));
    names.forEach((name, i) => {
      let path = '';
      let pen = 'M';
      for (const point of points) {
        if (name in point.values) {
          path += `${pen}${x(point.seconds).toFixed(1)} ${y(point.values[name]).toFixed(1)}`;
          pen = 'L';
        } else {
          pen = 'M';
        }
      }
      svg.append(drawn('path', { class: `curve ${CURVES[i] ?? 'other'}`, d: path }));
    });
    const legend = names.map((name, i) => element('span', {},
      drawn('svg', { class: 'key', viewBox: '0 0 32 10', 'aria-hidden': 'true' },
        drawn('path', { class: `curve ${CURVES[i] ?? 'other'}`, d: 'M0 5L32 5' })),
      `${name} `,
      element('strong', {}, name in last.values ? text(last.values[name]) : '-')));
    figure.replaceChildren(element('figcaption', {}, element('span', {}, title), ...legend), svg);
  }

  function niceTop(value) {
    if (value <= 0) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= value);
  }

  const rateChart = chart('rate', 'Operations per second', rate);
  const latencyChart = chart('latency', 'Mean time of an operation', nanos);

  // ---- Asking ----

  class Refusal extends Error {}

  async function ask(address) {
    const answer = await fetch(address, {
      cache: 'no-store',
      headers: { 'X-Crail-Page': '1' },
      signal: AbortSignal.timeout(PATIENCE_MILLIS),
    });
    if (!answer.ok) {
      throw new Refusal((await answer.text()).trim());
    }
    return answer.json();
  }

  function sentence(failure) {
    if (failure instanceof Refusal) return failure.message;
    return failure.name === 'TimeoutError' ? 'the namenode has not answered in time' : 'the namenode cannot be reached';
  }

  let answered = 0;
  let paused = false;
  let timer = 0;

  async function refresh() {
    clearTimeout(timer);
    try {
      show(await ask('api/cluster.json'));
      answered = Date.now();
    } catch (failure) {
      trouble([`No new figures: ${sentence(failure)}.`]);
      unknown();
    }
    announce();
    plan();
  }

  function plan() {
    clearTimeout(timer);
    if (!paused && !document.hidden) {
      timer = setTimeout(refresh, PAUSE_MILLIS);
    }
  }

  function announce() {
    byId('age').textContent = answered === 0 ? 'no answer yet'
      : `${paused ? 'paused' : 'live'}, as of ${moment(answered).slice(11)}`;
  }

  // Only what is new is said, so that a screen reader does not repeat it.
  let troubles = '';

  function trouble(sentences) {
    const all = sentences.join('\n');
    if (all !== troubles) {
      troubles = all;
      byId('trouble').replaceChildren(...sentences.map((each) => element('p', {}, printable(each))));
    }
  }

  byId('pause').addEventListener('click', () => {
    paused = !paused;
    byId('pause').setAttribute('aria-pressed', String(paused));
    announce();
    if (paused) clearTimeout(timer);
    else refresh();
  });

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer);
    else if (!paused) refresh();
  });

  // ---- The cluster ----

  const STATES = {
    online: ['\u25cf', 'good'],
    serves: ['\u25cf', 'good'],
    standby: ['\u25cf', 'good'],
    'joins anew': ['\u25bc', 'warn'],
    draining: ['\u25bc', 'warn'],
  };

  // The word says it all; sign and colour are for those who look for it.
  function state(word, more = '') {
    const [sign, kind] = STATES[word] ?? ['\u2716', 'bad'];
    return { text: `${sign} ${word}${more}`, kind };
  }

  function show(answer) {
    const report = answer.report;
    const seconds = Date.parse(report.at) / 1000;
    const cluster = printable(report.cluster);
    document.title = cluster === '' ? 'Crail' : `Crail: ${cluster}`;
    byId('cluster').textContent = cluster;
    byId('served').textContent = `served by ${answer.servedByPeer === undefined ? '' : `peer ${answer.servedByPeer} of `}`
      + `namenode ${answer.servedBy} of ${report.namenodes.length}`;
    trouble([]);
    showVerdict(answer.status);
    showTiles(report);
    operations = answer.operations;
    if (seconds !== lastSeconds) {
      showRates(report.namenodes, seconds);
      showOperations(seconds);
      lastSeconds = seconds;
    }
    table('class-rows', report.classes.map(classRow));
    table('namenode-rows', report.namenodes.map(namenodeRow));
    const peers = report.namenodes.flatMap((each) => each.peers);
    table('peer-rows', peers.map(peerRow));
    byId('peer-table').hidden = peers.length === 0;
    table('datanode-rows', report.datanodes.map(datanodeRow));
    const drains = report.datanodes.filter((each) => each.draining);
    table('drain-rows', drains.map(drainRow));
    byId('no-drains').hidden = drains.length > 0;
    byId('drain-table').hidden = drains.length === 0;
  }

  let verdict = '';

  // As 'crail status' says it.
  function showVerdict({ healthy, problems }) {
    const text = JSON.stringify([healthy, problems]);
    if (text === verdict) return;
    verdict = text;
    const worst = healthy ? (problems.length === 0 ? 'good' : 'warn') : 'bad';
    byId('verdict').className = worst;
    byId('verdict').textContent = healthy
      ? `\u25cf healthy${problems.length === 0 ? '' : `, with ${things(problems.length, 'warning')}`}`
      : '\u2716 unhealthy';
    byId('findings').replaceChildren(...problems.map((each) => element('li', {},
      element('strong', { class: each.grade === 'broken' ? 'bad' : 'warn' },
        `${each.grade === 'broken' ? '\u2716' : '\u25bc'} ${printable(each.text)}`),
      element('span', { class: 'cure' }, printable(each.cure)))));
  }

  // What was true a while ago may not be so any more.
  function unknown() {
    verdict = '';
    byId('verdict').className = 'bad';
    byId('verdict').textContent = '\u2716 no answer';
    byId('findings').replaceChildren();
  }

  const tiles = new Map();

  function tile(name, kind, ...texts) {
    const text = [kind, ...texts].join('\n');
    if (tiles.get(name)?.text === text) return;
    const made = element('div', {}, element('dt', {}, name),
      ...texts.map((each, i) => element('dd', i === 0 && kind !== '' ? { class: kind } : {}, each)));
    if (tiles.has(name)) tiles.get(name).made.replaceWith(made);
    else byId('tiles').append(made);
    tiles.set(name, { text, made });
  }

  const sum = (list, key) => list.reduce((all, each) => all + each[key], 0);

  const things = (number, thing) => `${count(number)} ${thing}${number === 1 ? '' : 's'}`;

  function showTiles(report) {
    const answering = report.namenodes.filter((each) => each.answers).length;
    const members = report.datanodes.filter((each) => each.state !== 'lost');
    const online = members.filter((each) => each.state === 'online').length;
    const draining = members.filter((each) => each.state === 'draining').length;
    const capacity = sum(report.classes, 'capacityBytes');
    const used = sum(report.classes, 'usedBytes');
    tile('Namenodes', answering < report.namenodes.length ? 'bad' : '', `${answering} of ${report.namenodes.length}`, 'answer');
    const others = ['draining', 'impaired']
      .map((word) => [members.filter((each) => each.state === word).length, word])
      .filter(([number]) => number > 0);
    tile('Datanodes', online + draining < members.length || members.length === 0 ? 'bad' : '',
      `${online} of ${members.length}`, ['online', ...others.map((each) => each.join(' '))].join(', '));
    tile('Used', '', `${bytes(used)} of ${bytes(capacity)}`, percent(used, capacity));
    tile('Namespace', '', things(report.objects, 'node'), `${bytes(report.smallValueBytes)} of small values`);
    tile('Write leases', '', count(report.leases), report.leases === 0 ? 'no open writer' : 'held by clients');
  }

  // ---- What was counted between two answers ----

  let lastSeconds = 0;
  const counted = new Map();

  // Null at first, and after the process began anew.
  function difference(key, seconds, now) {
    const before = counted.get(key);
    counted.set(key, { seconds, ...now });
    if (before === undefined || now.count < before.count || seconds <= before.seconds) return null;
    return {
      seconds: seconds - before.seconds,
      count: now.count - before.count,
      nanos: now.nanos - before.nanos,
      buckets: (now.buckets ?? []).map((value, i) => value - before.buckets[i]),
    };
  }

  function showRates(namenodes, seconds) {
    const rates = {};
    const times = {};
    const moved = { located: null, written: null };
    for (const each of namenodes) {
      if (!each.answers) continue;
      const part = difference(`namenode ${each.index}`, seconds, { count: each.requests, nanos: each.requestNanos });
      if (part !== null) {
        rates[`namenode ${each.index}`] = part.count / part.seconds;
        if (part.count > 0) times[`namenode ${each.index}`] = part.nanos / part.count;
      }
      for (const [name, value] of [['located', each.locatedBytes], ['written', each.committedBytes]]) {
        const more = difference(`${name} at ${each.index}`, seconds, { count: value });
        if (more !== null) moved[name] = (moved[name] ?? 0) + more.count / more.seconds;
      }
    }
    const perSecond = (value) => (value === null ? '-' : `${bytes(value)}/s`);
    tile('Written', '', perSecond(moved.written), `${perSecond(moved.located)} located to read`);
    rateChart(seconds, rates);
    latencyChart(seconds, times);
  }

  // Those that were not asked for since the page was opened are idle.
  let operations = [];
  let idle = false;
  const parts = new Map();
  const busy = new Set();

  function showOperations(seconds) {
    for (const each of operations) {
      const part = difference(`operation ${each.name}`, seconds, each);
      parts.set(each.name, part);
      if (part !== null && part.count > 0) busy.add(each.name);
    }
    drawOperations();
  }

  function drawOperations() {
    table('operation-rows', operations.filter((each) => idle || busy.has(each.name)).map((each) => {
      const part = parts.get(each.name) ?? null;
      const some = part !== null && part.count > 0;
      return [
        each.name,
        number(part === null ? '-' : rate(part.count / part.seconds)),
        number(some ? nanos(part.nanos / part.count) : '-'),
        number(some ? within(part.buckets, part.count * 0.99) : '-'),
        number(count(each.count)),
        each.errors === 0 ? number('0') : { text: count(each.errors), number: true, kind: 'warn' },
      ];
    }));
  }

  byId('idle').addEventListener('click', () => {
    idle = !idle;
    byId('idle').setAttribute('aria-pressed', String(idle));
    drawOperations();
  });

  // The end of the first bucket up to which this many are.
  function within(buckets, wanted) {
    let seen = 0;
    const index = buckets.findIndex((value) => (seen += value) >= wanted);
    // The last bucket has no end.
    return index < 0 || index === buckets.length - 1
      ? `more than ${nanos(2 ** (FIRST_BUCKET_POWER + buckets.length - 2))}`
      : nanos(2 ** (FIRST_BUCKET_POWER + index));
  }

  // ---- Rows ----

  function classRow(each) {
    return [
      String(each.storageClass),
      use(each.usedBytes, each.waitingBytes, each.capacityBytes),
      number(bytes(each.capacityBytes)),
      number(bytes(each.usedBytes)),
      number(bytes(each.waitingBytes)),
      number(bytes(each.freeBytes)),
      number(bytes(each.largestFreeExtentBytes)),
      lost(each.lostBytes),
    ];
  }

  const use = (used, waiting, whole) => ({ text: percent(used + waiting, whole), use: [used, waiting, whole] });

  const lost = (value) => (value === 0 ? number('0 B') : { text: `\u2716 ${bytes(value)}`, number: true, kind: 'bad' });

  // A datanode does not see all bytes of its clients.
  const served = (perSecond) => number(perSecond < 0 ? '-' : bytes(perSecond));

  function namenodeRow(each) {
    const known = (text) => number(each.answers ? text : '-');
    return [
      `namenode ${each.index}`,
      printable(each.address),
      state(each.answers ? 'online' : 'no answer'),
      each.started === null ? '-' : moment(Date.parse(each.started)),
      known(nanos(each.micros * 1000)),
      known(count(each.objects)),
      known(bytes(each.smallValueBytes)),
      known(count(each.leases)),
      known(`${(each.waitedNanos / 1e9).toFixed(1)} s`),
      known(`${each.onlineDatanodes} of ${each.datanodes}`),
      known(each.log === null ? 'none' : bytes(each.log.bytes)),
      each.log === null || each.log.snapshot === null ? '-' : moment(Date.parse(each.log.snapshot)),
    ];
  }

  function peerRow(each) {
    const role = each.serves ? 'serves' : 'standby';
    const word = each.answers ? role : 'missing';
    const known = (text) => number(each.behind < 0 ? '-' : text);
    return [
      `peer ${each.peer} of namenode ${each.namenode}`,
      printable(each.address),
      state(each.joins ? 'joins anew' : word),
      known(count(each.behind)),
      known(nanos(each.behindMillis * 1e6)),
      number(each.serves || each.term === 0 ? '-' : ago(each.silentMillis)),
      number(each.term === 0 ? '-' : count(each.term)),
    ];
  }

  const address = (each) => printable(`${each.host.includes(':') ? `[${each.host}]` : each.host}:${each.port}`);

  function datanodeRow(each) {
    // Some namenodes may hear of it while others do not.
    const partly = each.silentAt.length > 0 && each.silentAt.length < each.namenodes.length;
    return [
      address(each),
      state(each.state, partly ? ` at namenode ${each.silentAt.join(', ')}` : ''),
      printable(each.tier),
      String(each.storageClass),
      use(each.usedBytes, each.waitingBytes, each.lentBytes),
      number(bytes(each.lentBytes)),
      number(bytes(each.usedBytes)),
      number(bytes(each.waitingBytes)),
      served(each.readRate),
      served(each.writeRate),
      lost(each.lostBytes),
      number(ago(each.silentMillis)),
      { text: each.uuid.slice(0, 8), whole: each.uuid },
    ];
  }

  function drainRow(each) {
    const left = each.usedBytes + each.waitingBytes;
    const reasons = [];
    if (each.state === 'offline') {
      reasons.push(`it was last heard of ${ago(each.silentMillis)}; the drain waits for it`);
    }
    if (each.state === 'impaired') reasons.push('it has lost a target; its files wait until the target is back');
    if (each.usedBytes > 0) reasons.push(`${bytes(each.usedBytes)} belong to files, which are to be moved or deleted`);
    if (each.waitingBytes > 0) reasons.push(`${bytes(each.waitingBytes)} wait for the end of leases`);
    return [
      address(each),
      use(each.lentBytes - left, 0, each.lentBytes),
      number(bytes(left)),
      { text: reasons.length === 0 ? 'nothing: it is empty, and ends' : reasons.join('; '), kind: 'reason' },
    ];
  }

  // ---- Applications ----

  // All files of all applications are listed for this, so only on request.
  let counting = false;

  async function countApplications() {
    if (counting) return;
    counting = true;
    byId('application-state').textContent = 'counting';
    try {
      const answer = await ask('api/applications.json');
      const { applications, others, missing } = answer.report;
      table('application-rows', applications.map(applicationRow));
      byId('application-table').hidden = applications.length === 0;
      byId('application-state').textContent = printable(
        `${applications.length === 0 ? 'none' : things(applications.length, 'application')}`
          + `${others > 0 ? `, and ${count(others)} more hold less` : ''}, as of ${moment(Date.parse(answer.at))}`
          + `${missing.length === 0 ? '' : `; without the part of ${missing.join(', ')}`}`);
    } catch (failure) {
      byId('application-state').textContent = printable(sentence(failure));
    }
    counting = false;
  }

  function applicationRow(each) {
    return [
      printable(each.id),
      number(bytes(each.shuffleBytes + each.broadcastBytes)),
      number(bytes(each.shuffleBytes)),
      number(bytes(each.broadcastBytes)),
      number(count(each.files)),
      each.began === null ? '-' : moment(Date.parse(each.began)),
      moment(Date.parse(each.renewed)),
    ];
  }

  byId('count').addEventListener('click', countApplications);

  // ---- The namespace ----

  let path = '/';
  let next = null;
  let rows = [];
  // An answer for a path that was left meanwhile is dropped.
  let visit = 0;
  let asking = false;

  const hashOf = (target) => `#path=${encodeURIComponent(target)}`;

  const below = (container, name) => (container === '/' ? `/${name}` : `${container}/${name}`);

  async function list(more) {
    const mine = more ? visit : ++visit;
    const after = more && next !== null ? `&after=${encodeURIComponent(next)}` : '';
    // The button is not disabled meanwhile, since it would lose the focus.
    asking = true;
    try {
      const answer = await ask(`api/list?path=${encodeURIComponent(path)}${after}`);
      if (mine !== visit) return;
      rows = (more ? rows : []).concat(answer.entries.map((each) => nodeRow(answer.path, each)));
      next = answer.next;
      path = answer.path;
      crumbs();
      table('node-rows', rows);
      const missing = answer.missing.length === 0 ? '' : `; without the part of ${answer.missing.join(', ')}`;
      byId('listing').textContent = printable(
        `${count(rows.length)} ${rows.length === 1 ? 'child' : 'children'} of ${path}`
          + `${next === null ? '' : ', and there are more'}${missing}`);
    } catch (failure) {
      if (mine !== visit) return;
      if (!more) {
        rows = [];
        next = null;
        crumbs();
        table('node-rows', rows);
      }
      byId('listing').textContent = printable(`${path}: ${sentence(failure)}`);
    }
    asking = false;
    if (next === null && document.activeElement === byId('more')) byId('nodes').focus();
    byId('more').hidden = next === null;
  }

  function nodeRow(container, node) {
    const target = below(container, node.name);
    const name = printable(node.name);
    const holds = node.children !== undefined;
    return [
      holds ? { text: name, link: target } : { text: name, name: true },
      node.note ? `${node.type}, ${node.note}` : node.type,
      number(holds ? '-' : bytes(node.size)),
      number(holds ? count(node.children) : '-'),
      String(node.storageClass),
      moment(node.modifiedMillis),
      holds || node.size === 0 ? '-' : { text: 'Show', button: target, label: `Show the places of ${name}` },
    ];
  }

  async function showPlaces(target, cell) {
    const fresh = element('ul', { class: 'places', role: 'list', tabindex: '-1' });
    try {
      const answer = await ask(`api/node?path=${encodeURIComponent(target)}`);
      for (const place of answer.places) {
        fresh.append(element('li', {}, printable(
          `${place.datanode}: ${bytes(place.bytes)}${place.online ? '' : ', which does not answer'}`)));
      }
      if (answer.heldByNamenode) fresh.append(element('li', {}, 'the namenode itself'));
      if (answer.unseenBytes > 0) fresh.append(element('li', {}, `and ${bytes(answer.unseenBytes)} more`));
    } catch (failure) {
      fresh.append(element('li', {}, printable(sentence(failure))));
    }
    cell.replaceChildren(fresh);
    fresh.focus();
  }

  function crumbs() {
    const parts = path.split('/').filter((part) => part !== '');
    const items = [['/', 'root'], ...parts.map((part, i) => [`/${parts.slice(0, i + 1).join('/')}`, printable(part)])];
    byId('crumbs').replaceChildren(...items.map(([target, text], i) => element('li', {},
      element('a', i === items.length - 1 ? { href: hashOf(target), 'aria-current': 'page' } : { href: hashOf(target) },
        text))));
  }

  function follow() {
    if (!location.hash.startsWith('#path=')) return false;
    try {
      path = decodeURIComponent(location.hash.slice('#path='.length));
    } catch {
      path = '/';
    }
    list(false);
    return true;
  }

  byId('more').addEventListener('click', () => {
    if (!asking) list(true);
  });
  window.addEventListener('hashchange', follow);

  refresh();
  if (follow()) byId('namespace').scrollIntoView();
  else list(false);
})();
